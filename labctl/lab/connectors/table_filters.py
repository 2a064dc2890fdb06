"""Filters of a connector, and the tables that they let through."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.keys.lists import names
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, TableRef
from lakecontract.properties import TOPIC_KEY

__all__ = [
    "EXCLUDED",
    "TABLES",
    "check_captured",
    "entries_of",
    "left_out_by",
    "lets_through",
    "refused_by",
]

TABLES = "table.include.list"
EXCLUDED = "table.exclude.list"


def _schemas(engine: EngineName) -> str:
    return (
        "database.include.list" if ENGINES[engine].schemas_are_databases else "schema.include.list"
    )


def entries_of(config: Mapping[str, str], key: str) -> list[str]:
    return names(config.get(key))


def _matches(entries: list[str], name: str) -> bool:
    """Return whether an entry matches the whole name, in any case, as Debezium does."""
    for entry in entries:
        try:
            if re.fullmatch(entry, name, re.IGNORECASE):
                return True
        except re.error:
            continue  # a form that only Java can read
    return False


def refused_by(config: Mapping[str, str], engine: EngineName, ref: TableRef) -> str | None:
    """Return the first key of a connector that keeps a table's changes away, or None."""
    for key, name in ((_schemas(engine), ref.schema), (TABLES, str(ref))):
        if config.get(key) and not _matches(entries_of(config, key), name):
            return key
    return EXCLUDED if _matches(entries_of(config, EXCLUDED), str(ref)) else None


def lets_through(config: Mapping[str, str], engine: EngineName, ref: TableRef) -> bool:
    """Return whether a connector writes a table's changes."""
    return refused_by(config, engine, ref) is None


def left_out_by(file: ConnectorFile, engine: EngineName, ref: TableRef) -> str | None:
    """Return the same key as `refused_by`.

    Returns None also if that key's list has expressions that only Java can read.
    """
    key = refused_by(file.config, engine, ref)
    return key if key is not None and _is_plain(file, key) else None


def check_captured(lab: Lab) -> None:
    """Raise LabError (USAGE) for a table that its connector's file leaves out.

    No row of such a table would ever come. Lists with expressions that only Java can read are not
    judged.
    """
    if problems := list(_left_out(lab)):
        raise LabError(
            problems[0],
            details=tuple(problems[1:]),
            hint="nothing was started; add the table to that list, by hand or with `labctl table "
            "add`, or remove the properties file",
            exit_code=ExitCode.USAGE,
        )


def _left_out(lab: Lab) -> Iterator[str]:
    for table in lab.tables:
        file = source_file(lab, table.source)
        ref = TableRef(table.db_schema, table.source_name)
        if key := left_out_by(file, table.engine, ref):
            yield (
                f"{file.path}:{file.line_of(key)}: {key} leaves out {ref}, the table of "
                f"{table.properties.place_of(TOPIC_KEY)}"
            )


def _is_plain(file: ConnectorFile, key: str) -> bool:
    """Return whether Python can read all expressions of a list."""
    try:
        for entry in entries_of(file.config, key):
            re.compile(entry)
    except re.error:
        return False
    return True
