"""What connector files may refer to: names, never values."""

from __future__ import annotations

from labctl.config.model import LabConfig
from labctl.lab.secrets import PASSWORDS, SECRET_PREFIX, reference_values
from labctl.runtimes.compose.network import network_endpoints
from labctl.runtimes.endpoints import capture_logins

__all__ = ["offered_keys", "reference"]


def offered_keys(config: LabConfig) -> dict[str, list[str]]:
    """By secret, the keys that a lab of this configuration offers. The lab need not exist."""
    nothing = dict.fromkeys(PASSWORDS, "")
    values = reference_values(
        network_endpoints(config, nothing), capture_logins(nothing), config.silver.source
    )
    return {f"{SECRET_PREFIX}/{name}": list(found) for name, found in values.items()}


def reference(secret: str, key: str) -> str:
    """How a connector file writes the value `key` of `secret`."""
    return f"${{secretManager:{secret}:{key}}}"
