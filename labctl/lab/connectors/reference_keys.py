"""Keys that connector files may refer to: names, never values."""

from __future__ import annotations

from labctl.config.lab_config import LabConfig
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.services.lab_services import PASSWORDS
from labctl.services.reference_files import reference_values
from labctl.state.lab_secrets import SECRET_PREFIX

__all__ = ["offered_keys"]


def offered_keys(config: LabConfig) -> dict[str, list[str]]:
    """Return the keys that a lab of this configuration offers, by secret. No lab need exist."""
    nothing = dict.fromkeys(PASSWORDS, "")
    values = reference_values(network_endpoints(config, nothing), nothing, config.silver.source)
    return {f"{SECRET_PREFIX}/{name}": list(found) for name, found in values.items()}
