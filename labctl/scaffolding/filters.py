"""Which tables a connector's filters let through, and letting one more through."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from labctl.config.model import SourceEngine
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.files import ConnectorFile
from labctl.sources import TableRef

__all__ = ["lets_through", "refused_by", "with_table", "without_table"]

_TABLES = "table.include.list"
_EXCLUDED = "table.exclude.list"


def _schemas(engine: SourceEngine) -> str:
    return "database.include.list" if engine == "mysql" else "schema.include.list"


def _entries(config: Mapping[str, str], key: str) -> list[str]:
    return [part.strip() for part in config.get(key, "").split(",") if part.strip()]


def _matches(entries: list[str], name: str) -> bool:
    """As Debezium does: expressions of the whole name, in any case."""
    for entry in entries:
        try:
            if re.fullmatch(entry, name, re.IGNORECASE):
                return True
        except re.error:
            continue  # Java's own form, which is not judged here
    return False


def refused_by(config: Mapping[str, str], engine: SourceEngine, ref: TableRef) -> str | None:
    """The first key of a connector that keeps a table's changes away; None where none does."""
    for key, name in ((_schemas(engine), ref.schema), (_TABLES, str(ref))):
        if config.get(key) and not _matches(_entries(config, key), name):
            return key
    return _EXCLUDED if _matches(_entries(config, _EXCLUDED), str(ref)) else None


def lets_through(config: Mapping[str, str], engine: SourceEngine, ref: TableRef) -> bool:
    """Whether a connector writes a table's changes."""
    return refused_by(config, engine, ref) is None


def with_table(file: ConnectorFile, engine: SourceEngine, ref: TableRef) -> str | None:
    """The text of the connector's file with the table in its filters; None where it is already.

    Raises LabError (USAGE) for a filter that would have to lose something for it.
    """
    text, config = file.path.read_text(encoding="utf-8"), dict(file.config)
    changed = None
    while (key := refused_by(config, engine, ref)) is not None:
        if key == _EXCLUDED:
            raise LabError(
                f"{file.path}:{file.line_of(key)}: {key} leaves {ref} out",
                hint="nothing was changed; take the table out of that list first",
                exit_code=ExitCode.USAGE,
            )
        added = re.escape(ref.schema if key != _TABLES else ref.name)
        entry = added if key != _TABLES else f"{re.escape(ref.schema)}.{added}"
        config[key] = ",".join([*_entries(config, key), entry])
        changed = text = _set(text, key, config[key])
    return changed


def without_table(file: ConnectorFile, ref: TableRef) -> str | None:
    """The text of the connector's file without the table in its list; None where none names it."""
    entries = _entries(file.config, _TABLES)
    left = [entry for entry in entries if re.sub(r"\\|[\[\]]", "", entry) != str(ref)]
    if left == entries or not left:
        return None
    return _set(file.path.read_text(encoding="utf-8"), _TABLES, ",".join(left))


def _set(text: str, key: str, value: str) -> str:
    """The file's text with another value of a key, all else as it is."""
    return re.sub(
        rf'("{re.escape(key)}"\s*:\s*)"(?:[^"\\]|\\.)*"',
        lambda match: match[1] + json.dumps(value, ensure_ascii=False),
        text,
    )
