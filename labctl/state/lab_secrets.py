"""Generated passwords, and the format of the files that hold them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from pydantic import TypeAdapter

from labctl.errors import ExitCode, LabError
from labctl.state.lab_state import write_private

__all__ = [
    "SECRET_PREFIX",
    "load_passwords",
    "properties_text",
]

SECRET_PREFIX = "demo"  # noqa: S105 - a folder's name
_PASSWORDS = TypeAdapter(dict[str, str])


def load_passwords(folder: Path, roles: Iterable[str]) -> dict[str, str]:
    """Return the passwords in `folder` by role; generate and save missing ones of `roles`.

    Raises LabError (ENVIRONMENT) if the file is damaged: new passwords would not open the
    existing databases.
    """
    path = folder / "passwords.json"
    try:
        known = _PASSWORDS.validate_json(path.read_bytes()) if path.is_file() else {}
    except ValueError:
        raise LabError(
            f"{path} is damaged: the databases' passwords cannot be read",
            hint="put a copy of that file back, or remove the lab with `labctl destroy`",
            exit_code=ExitCode.ENVIRONMENT,
        ) from None
    missing = [role for role in roles if role not in known]
    if missing:
        known |= {role: secrets.token_urlsafe(24) for role in missing}
        write_private(path, json.dumps(known, indent=2))
    return known


def properties_text(values: Mapping[str, str]) -> str:
    """Return `values` as the text of a java.util.Properties file."""
    return "".join(f"{key}={_escape(value)}\n" for key, value in values.items())


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n")
