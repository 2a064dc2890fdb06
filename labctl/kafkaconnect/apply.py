"""Bringing Connect's connectors in line with the files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.client import ConnectClient
from labctl.kafkaconnect.files import ConnectorFile

__all__ = ["Applied", "apply_connectors", "validate_connectors"]


@dataclass(frozen=True)
class Applied:
    name: str
    change: Literal["created", "updated", "unchanged"]


def validate_connectors(client: ConnectClient, files: Iterable[ConnectorFile]) -> None:
    """Have every file checked by the connector it names.

    Raises LabError (USAGE) that lists file, field and reason; nothing is changed.
    """
    problems: list[str] = []
    installed = client.plugins()
    for file in files:
        wanted = file.config["connector.class"]
        if wanted not in installed:
            known = ", ".join(name for name in installed if "mirror" not in name)
            problems.append(f"{file.path.name}: connector.class: no {wanted} here; {known}")
            continue
        errors = client.validate({**file.config, "name": file.name})
        problems += [
            f"{file.path.name}: {field}: {reason}"
            for field, reasons in errors.items()
            for reason in reasons
        ]
    if problems:
        raise LabError(
            f"Kafka Connect refuses the configuration: {problems[0]}",
            details=tuple(problems[1:]),
            hint="nothing was changed; correct the file and apply again",
            exit_code=ExitCode.USAGE,
        )


def apply_connectors(client: ConnectClient, files: list[ConnectorFile]) -> list[Applied]:
    """Create or update each connector; one whose configuration is the same is left alone."""
    validate_connectors(client, files)
    return [_apply(client, file) for file in files]


def _apply(client: ConnectClient, file: ConnectorFile) -> Applied:
    wanted = {**file.config, "name": file.name}
    held = client.config(file.name)
    if held == wanted:
        return Applied(file.name, "unchanged")
    client.put(file.name, file.config)
    return Applied(file.name, "created" if held is None else "updated")
