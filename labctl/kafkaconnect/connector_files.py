"""The connector files in `connectors/`, which are read and checked but never rewritten."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.keys import as_today
from lakecontract.references import REFERENCE
from lakecontract.regular_files import read_text

__all__ = [
    "PATTERN",
    "ConnectorFile",
    "ParsedFile",
    "connector_files",
    "parse_connector",
    "read_connector",
    "resolve_references",
]

PATTERN = "*_connector_*.json"
"""Name pattern of connector files."""
_PUBLICATION = "dbz_publication"
"""Debezium's default publication, for a connector's file that names none."""


@dataclass(frozen=True)
class ConnectorFile:
    """A connector's configuration, as read from its file."""

    name: str
    path: Path
    config: dict[str, str]
    """Configuration in current keys, whichever Debezium version the file was written for."""
    older_keys: tuple[str, ...] = ()
    """Keys of older versions that were converted: file, line, key and new meaning."""

    @property
    def is_source(self) -> bool:
        return self.name.startswith("source_")

    @property
    def publication(self) -> str:
        """The publication that the connector reads, where its engine has publications."""
        return self.config.get("publication.name", _PUBLICATION)

    def line_of(self, key: str) -> int:
        """Return the line that sets `key`; 1 if there is none."""
        lines = read_text(self.path).splitlines()
        return next((n for n, line in enumerate(lines, 1) if f'"{key}"' in line), 1)


def connector_files(folder: Path) -> list[ConnectorFile]:
    """Return all connector files, sorted by name, without hidden ones, which editors leave."""
    found = (path for path in folder.glob(PATTERN) if not path.name.startswith("."))
    return [read_connector(path) for path in sorted(found)]


def read_connector(path: Path) -> ConnectorFile:
    """Read one file: either the keys alone, or Connect's own `{"name": …, "config": {…}}`.

    Numbers and booleans are read as Connect reads them; older keys are converted to current ones.
    Raises LabError (USAGE) with file and line if the file is unusable; messages contain no values.
    """
    parsed = parse_connector(path)
    if parsed.name not in (None, path.stem):
        raise LabError(
            f"{path} names its connector otherwise than the file is called",
            hint=f'a connector has its file\'s name: write "name": "{path.stem}", leave the '
            "name out, or rename the file and change lab.toml",
            exit_code=ExitCode.USAGE,
        )
    if "connector.class" not in parsed.config:
        raise _unusable(path, "connector.class is missing")
    today = as_today(parsed.config)
    if problems := [f"{parsed.place(key)}: {key}: {why}" for key, why in today.problems.items()]:
        raise LabError(
            problems[0],
            details=tuple(problems[1:]),
            hint="nothing was changed; correct the file",
            exit_code=ExitCode.USAGE,
        )
    older = (f"{parsed.place(key)}: {said}" for key, said in today.edits.items())
    return ConnectorFile(path.stem, path, today.config, tuple(older))


@dataclass(frozen=True)
class ParsedFile:
    """A file with a connector's configuration, exactly as written."""

    path: Path
    text: str
    name: str | None
    """The connector's name in the file; None if the file has none."""
    config: dict[str, str]
    is_wrapped: bool
    """True if it is in Connect's own form, with a `config` object inside."""

    def place(self, key: str) -> str:
        """Return the file and line of `key`; the file alone if it lacks the key."""
        found = re.search(rf'"{re.escape(key)}"\s*:', self.text)
        if found is None:
            return str(self.path)
        return f"{self.path}:{self.text.count(chr(10), 0, found.start()) + 1}"


def parse_connector(path: Path) -> ParsedFile:
    """Parse a connector file of any name. Raises LabError (USAGE) if it is not usable."""
    try:
        text = read_text(path)
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
    names = {name for name in (named, config.get("name")) if name is not None}
    if len(names) > 1 or not all(isinstance(name, str) for name in names):
        raise _unusable(path, "its name is no text, or it has two")
    return ParsedFile(path, text, next(iter(names), None), config, isinstance(held, dict))


def _object(path: Path, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise if a key is repeated, since one value would silently be lost."""
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
    """Return `value` with each `${secretManager:file:key}` replaced from files in `secrets`."""

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
