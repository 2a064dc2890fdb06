"""Detection of connectors that would conflict with each other."""

from __future__ import annotations

from collections.abc import Sequence

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.sources.engine_registry import engine_of_connector

__all__ = ["check_apart"]


def check_apart(files: Sequence[ConnectorFile]) -> None:
    """Raise LabError (USAGE) if two connectors of one engine would conflict."""
    owners: dict[tuple[str, str, str], ConnectorFile] = {}
    for file in files:
        connector = file.config["connector.class"]
        engine = engine_of_connector(connector)
        for key, default in ({} if engine is None else engine.connector.own_keys).items():
            value = file.config.get(key, default)
            if value is None:
                continue
            other = owners.setdefault((connector, key, value), file)
            if other is not file:
                raise LabError(
                    f"{file.path}: {key}: {value} is {other.name}'s already",
                    hint=f"two connectors cannot share it: give one of them another {key}",
                    exit_code=ExitCode.USAGE,
                )
