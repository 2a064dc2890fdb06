"""Detection of connectors that would conflict with each other."""

from __future__ import annotations

from collections.abc import Sequence

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.files import DEFAULT_SLOT, POSTGRES, ConnectorFile

__all__ = ["check_apart"]

_OWN = {
    "slot.name": DEFAULT_SLOT,
    "database.server.id": None,
    "schema.history.internal.kafka.topic": None,
}
"""Keys whose values two connectors of an engine must not share, with Debezium's defaults."""


def check_apart(files: Sequence[ConnectorFile]) -> None:
    """Raise LabError (USAGE) if two connectors of one engine would conflict."""
    owners: dict[tuple[str, str, str], ConnectorFile] = {}
    for file in files:
        engine = file.config["connector.class"]
        for key, default in _OWN.items():
            if key == "slot.name" and engine != POSTGRES:
                continue
            value = file.config.get(key, default)
            if value is None:
                continue
            other = owners.setdefault((engine, key, value), file)
            if other is not file:
                raise LabError(
                    f"{file.path}: {key}: {value} is {other.name}'s already",
                    hint=f"two connectors cannot share it: give one of them another {key}",
                    exit_code=ExitCode.USAGE,
                )
