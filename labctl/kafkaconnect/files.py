"""The connector files in `connectors/`: read and checked, never rewritten."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from labctl.errors import ExitCode, LabError
from lakehouse.references import REFERENCE

__all__ = [
    "DEFAULT_PUBLICATION",
    "DEFAULT_SLOT",
    "ConnectorFile",
    "connector_files",
    "read_connector",
    "resolve_references",
]

DEFAULT_SLOT, DEFAULT_PUBLICATION = "debezium", "dbz_publication"
"""What Debezium takes where a PostgreSQL connector's file names none."""


@dataclass(frozen=True)
class ConnectorFile:
    """One connector's configuration, as it stands in its file."""

    name: str
    path: Path
    config: dict[str, str]

    @property
    def is_source(self) -> bool:
        return self.name.startswith("source_")

    def line_of(self, key: str) -> int:
        """The line that sets `key`; the first when none does."""
        lines = self.path.read_text(encoding="utf-8").splitlines()
        return next((n for n, line in enumerate(lines, 1) if f'"{key}"' in line), 1)


def connector_files(folder: Path) -> list[ConnectorFile]:
    """Every connector file, by name."""
    return [read_connector(path) for path in sorted(folder.glob("*_connector_*.json"))]


def read_connector(path: Path) -> ConnectorFile:
    """Read one file: the keys by themselves, or Connect's own `{"name": …, "config": {…}}`.

    Numbers and booleans are taken as Connect takes them. Raises LabError (USAGE) with file and
    place when it cannot be one; no value is part of a message.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise _unusable(path, error.strerror or str(error)) from None
    except UnicodeDecodeError as error:
        raise _unusable(path, f"byte {error.start} is not UTF-8 text") from None
    try:
        content = json.loads(text, object_pairs_hook=partial(_object, path))
    except json.JSONDecodeError as error:
        raise _unusable(path, f"line {error.lineno}, column {error.colno}: {error.msg}") from None
    except (ValueError, RecursionError):
        raise _unusable(path, "it holds a number that is too long, or nests too deep") from None
    if not isinstance(content, dict):
        raise _unusable(path, "it must hold one object of configuration keys")
    held = content.get("config")
    named = content.get("name")
    if isinstance(held, dict):
        if beside := sorted(set(content) - {"name", "config"}):
            raise _unusable(path, f"{beside[0]} stands beside config; move it inside")
        content = held
    config = {key: _text(path, key, value) for key, value in content.items()}
    for name in (named, config.get("name")):
        if name is not None and name != path.stem:
            raise LabError(
                f"{path} names its connector otherwise than the file is called",
                hint=f'a connector has its file\'s name: write "name": "{path.stem}", leave the '
                "name out, or rename the file and change lab.toml",
                exit_code=ExitCode.USAGE,
            )
    if "connector.class" not in config:
        raise _unusable(path, "connector.class is missing")
    return ConnectorFile(name=path.stem, path=path, config=config)


def _object(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a key that stands twice would silently lose one of its values."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _unusable(path, f"{key} stands in it twice")
        found[key] = value
    return found


def _text(path: Path, key: str, value: object) -> str:
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
    kind = {list: "a list", dict: "an object", type(None): "null"}[type(value)]
    raise _unusable(path, f"{key}: the value must be text, a number or a boolean, not {kind}")


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
        hint="it holds one JSON object of Kafka Connect's configuration keys",
        exit_code=ExitCode.USAGE,
    )
