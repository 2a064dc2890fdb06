"""Filling the secrets that connectors refer to. Their values are never shown."""

from __future__ import annotations

import json
from typing import Any

from labctl.aws.session import Aws, Tell
from labctl.errors import LabError
from labctl.promote.connector_secrets import GENERATED, known_values, referenced
from labctl.promote.outputs import Outputs, resolve
from labctl.promote.promotion import Promotion

__all__ = ["fill_secrets"]


def fill_secrets(aws: Aws, promotion: Promotion, outputs: Outputs, tell: Tell) -> int:
    """Put the known values into each secret; return the number of changed secrets.

    Values that Secrets Manager generated are kept. Raises LabError if such a value is missing.
    """
    client = aws.client("secretsmanager")
    known = known_values(promotion)
    changed = 0
    for name in referenced(promotion):
        held = _held(client, name)
        wanted = dict(held)
        for key, value in resolve(known[name], outputs).items():
            if value != GENERATED:
                wanted[key] = value
            elif not held.get(key):
                raise LabError(
                    f"The secret {name} has no {key}, which Secrets Manager should have generated",
                    hint=f"delete the secret {name}, and apply again",
                )
        if wanted != held:
            client.put_secret_value(SecretId=name, SecretString=json.dumps(wanted))
            tell(f"secret {name}: {', '.join(sorted(wanted))}")
            changed += 1
    return changed


def _held(client: Any, name: str) -> dict[str, str]:
    """Return the secret's values; empty if it never got a value."""
    try:
        text = client.get_secret_value(SecretId=name).get("SecretString", "")
    except client.exceptions.ResourceNotFoundException as error:
        if "staging label" in str(error) or "can't find the specified secret value" in str(error):
            return {}
        raise
    if not text:
        return {}
    try:
        values: dict[str, str] = json.loads(text)
    except ValueError:
        raise LabError(
            f"The secret {name} does not hold the JSON that connectors refer to",
            hint="delete it, and apply again",
        ) from None
    return values
