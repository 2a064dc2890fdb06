"""The connector files in `connectors/`: read and checked, never rewritten."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from labctl.errors import ExitCode, LabError

__all__ = ["ConnectorFile", "connector_files", "read_connector", "resolve_references"]

REFERENCE = re.compile(r"\$\{secretManager:([^:}]+):([^}]+)\}")


@dataclass(frozen=True)
class ConnectorFile:
    """One connector's configuration, as it stands in its file."""

    name: str
    path: Path
    config: dict[str, str]

    @property
    def is_source(self) -> bool:
        return self.name.startswith("source_")


def connector_files(folder: Path) -> list[ConnectorFile]:
    """Every connector file, by name."""
    return [read_connector(path) for path in sorted(folder.glob("*_connector_*.json"))]


def read_connector(path: Path) -> ConnectorFile:
    """Read one file. Raises LabError (USAGE) with file and place when it cannot be one."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from None
    try:
        config = json.loads(text)
    except json.JSONDecodeError as error:
        raise _unusable(path, f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(config, dict):
        raise _unusable(path, "it must hold one object of configuration keys")
    for key, value in config.items():
        if not isinstance(value, str):
            raise _unusable(path, f"{key}: the value must be a string, found {value!r}")
    if "connector.class" not in config:
        raise _unusable(path, "connector.class is missing")
    return ConnectorFile(name=path.stem, path=path, config=config)


def resolve_references(value: str, secrets: Path) -> str:
    """`value` with each `${secretManager:file:key}` replaced from the files below `secrets`."""

    def look_up(match: re.Match[str]) -> str:
        name, key = match.groups()
        for line in (secrets / name).read_text(encoding="utf-8").splitlines():
            found, _, text = line.partition("=")
            if found == key:
                return text
        raise KeyError(f"{name} has no key {key}")

    return REFERENCE.sub(look_up, value)


def _unusable(path: Path, why: str) -> LabError:
    return LabError(
        f"{path} is not a usable connector file: {why}",
        hint="it holds one JSON object of Kafka Connect configuration, all values strings",
        exit_code=ExitCode.USAGE,
    )
