"""Checks for tables and columns that change records would lack, before anything is changed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from labctl.kafkaconnect.column_filters import (
    COLUMNS,
    COLUMNS_LEFT_OUT,
    is_taken,
    with_columns_left_out,
)
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.keys.lists import names
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, Source, TableRef
from labctl.sources.capture_limits import Limits

__all__ = ["captured_refs", "limit_problems", "limits_of", "reselects"]

_PROCESSORS = "post.processors"
_RESELECT = "io.debezium.processors.reselect.ReselectColumnsPostProcessor"


def limits_of(database: Source, file: ConnectorFile, ref: TableRef) -> Limits:
    """Return what a table's change records would lack, given its connector's file."""
    return ENGINES[database.engine].limits(database, ref, file.publication)


def captured_refs(lab: Lab, source: str) -> set[TableRef]:
    """Return the tables of a source that the project has a properties file for."""
    return {TableRef(t.db_schema, t.source_name) for t in lab.tables if t.source == source}


def limit_problems(file: ConnectorFile, limits: Mapping[TableRef, Limits]) -> Iterator[str]:
    """Yield the problems that keep tables from being captured with their connector's file.

    The key that a problem suggests is complete: it covers all columns of all these tables.
    """
    refused: dict[str, list[str]] = {}
    for ref, limit in limits.items():
        if limit.refused is not None:
            refused.setdefault(limit.refused, []).append(str(ref))
    for why, tables in refused.items():
        yield f"{', '.join(tables)} cannot be captured: {why}"
    config, written = dict(file.config), list[str]()
    for ref, limit in limits.items():
        for columns, why in limit.by_reason():
            if named := [one for one in columns if is_taken(file.config, ref, one)]:
                written.append(f"{ref} has {', '.join(named)}, {why}")
            if (listed := with_columns_left_out(config, ref, columns)) is not None:
                config[COLUMNS_LEFT_OUT] = listed
    if written:
        key = COLUMNS if file.config.get(COLUMNS) else COLUMNS_LEFT_OUT
        what = f"take them out of {key}"
        if key == COLUMNS_LEFT_OUT:
            what = f'write "{key}": {json.dumps(config[key], ensure_ascii=False)}'
        yield f"{file.path}:{file.line_of(key)}: {'; '.join(written)}; {what}"
    in_part = [str(ref) for ref, limit in limits.items() if limit.needs_reselect]
    if in_part and not reselects(file.config):
        yield (
            f"{file.path}:{file.line_of(_PROCESSORS)}: {', '.join(in_part)} cannot have REPLICA "
            "IDENTITY FULL, so large values that an update leaves as they are have to be read from "
            f'the table; write "{_PROCESSORS}": "reselector", "reselector.type": "{_RESELECT}", '
            '"reselector.reselect.unavailable.values": "true", '
            '"reselector.reselect.null.values": "false"'
        )


def reselects(config: Mapping[str, str]) -> bool:
    """Return whether a connector reads from the table the values that the log lacks."""
    return any(
        config.get(f"{alias}.type") == _RESELECT
        and config.get(f"{alias}.reselect.unavailable.values", "true") == "true"
        for alias in names(config.get(_PROCESSORS))
    )
