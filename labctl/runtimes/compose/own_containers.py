"""The Compose file of the user's own services, made from their sections of `lab.toml`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from labctl.config.lab_config import LabConfig
from labctl.config.services import OwnService
from labctl.runtimes.compose.container_addresses import network_endpoints
from labctl.services.own import container_port, keeps_data, own_environment, own_words
from labctl.services.placeholders import Values, endpoint_values, lab_values
from labctl.state.sockets import LOOPBACK

__all__ = ["OWN_LABEL", "own_containers"]

OWN_LABEL = "labctl.own-service"
"""Label of the containers that are made from sections of `lab.toml`."""

_DATA = "/data"
"""Folder of the service's volume in its container."""
_REFUSED = re.compile(r"[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")
"""Characters that JSON strings may hold, and that YAML refuses or takes for the end of a line."""
_ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - of the container, published on the host's loopback


def own_containers(
    config: LabConfig,
    lab: str,
    ports: Mapping[str, Mapping[str, int]],
    passwords: Mapping[str, str],
) -> str:
    """Return the file's text as JSON, which is YAML too. It may hold secrets.

    `ports` are those of this machine, by service and endpoint.
    """
    values = lab_values(network_endpoints(config, passwords)) | {"lab.name": lab}
    sections = config.own_services
    services = {
        name: _container(name, section, ports[name], values) for name, section in sections.items()
    }
    volumes: dict[str, Any] = {
        name: {} for name, section in sections.items() if keeps_data(section)
    }
    definition = _escaped({"services": services, "volumes": volumes})
    # YAML refuses the pairs of escapes with which JSON can write a character such as an emoji.
    text = json.dumps(definition, indent=1, ensure_ascii=False)
    return _REFUSED.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _container(
    name: str, section: OwnService, ports: Mapping[str, int], lab: Values
) -> dict[str, Any]:
    values: dict[str, Any] = {**lab, "self.data": _DATA}
    for endpoint in section.ports:
        address = f"{_ANY_ADDRESS}:{container_port(section, endpoint)}"
        values |= endpoint_values(f"self.{endpoint}", address)
    container: dict[str, Any] = {
        "image": section.image,
        # An init process of its own lets a fault kill the service from inside.
        "init": True,
        "labels": {OWN_LABEL: "true"},
        "restart": "always",
        "logging": {"driver": "json-file", "options": {"max-size": "10m", "max-file": "3"}},
        "environment": own_environment(name, section, values),
        "ports": [
            f"{LOOPBACK}:{port}:{container_port(section, endpoint)}"
            for endpoint, port in ports.items()
        ],
        "mem_limit": section.memory,
    }
    if section.image_command is not None:
        container["command"] = own_words(name, "image_command", section.image_command, values)
    if section.ready is not None and section.ready.command is not None:
        container["healthcheck"] = {
            "test": ["CMD", *own_words(name, "ready.command", section.ready.command, values)],
            "interval": "2s",
            "timeout": "5s",
            "retries": 3,
        }
    if keeps_data(section):
        # The short syntax would take `a:/data` for a path of Windows.
        container["volumes"] = [{"type": "volume", "source": name, "target": _DATA}]
    return container


def _escaped(value: Any) -> Any:
    """Return a value in which Compose finds no variables of its own."""
    match value:
        case str():
            return value.replace("$", "$$")
        case list():
            return [_escaped(item) for item in value]
        case dict():
            return {key: _escaped(item) for key, item in value.items()}
        case _:
            return value
