"""A source modelled on an existing database: tables, keys and types, and a sample of rows."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import unquote, urlsplit

from pydantic import SecretStr

from labctl.config.endpoints import Database
from labctl.config.lab_config import NOT_SOURCES
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.arrival_forecast import silver_column, table_findings
from labctl.kafkaconnect.column_filters import COLUMNS_LEFT_OUT, column_entry
from labctl.scaffolding.column_notes import column_notes
from labctl.scaffolding.foreign import type_text, value_literal, why_left_out
from labctl.scaffolding.new_connectors import source_text
from labctl.scaffolding.new_source import NewSource, NewTable, engine_of, require_source_name
from labctl.sources import ENGINES, Source, SourceTable, TableRef
from labctl.sources.capture_limits import Limits

__all__ = ["existing_source", "parse_dsn", "schema_statements"]

_ROWS = 100
"""Number of rows in one INSERT."""


def parse_dsn(dsn: str) -> tuple[EngineName, Database]:
    """Return a DSN's engine and database. Raises LabError (USAGE); no message has the password."""
    try:
        parts = urlsplit(dsn)
        engine = engine_of(parts.scheme.partition("+")[0])
        port = parts.port
    except ValueError:
        engine, port = None, None
    database = unquote(parts.path.strip("/")) if engine else ""
    if engine is None or not parts.hostname or not parts.username or not database:
        schemes = " or ".join(record.scheme for record in ENGINES.values())
        raise LabError(
            "--from-database does not name a database, its server and a user",
            hint="write engine://user:password@host:port/database, with "
            f"{schemes} as the engine; a character such as @ in a password is %40",
            exit_code=ExitCode.USAGE,
        )
    return engine, Database(
        host=parts.hostname,
        port=port or ENGINES[engine].port,
        user=unquote(parts.username),
        password=SecretStr(unquote(parts.password or "")),
        database=database,
    )


def existing_source(address: str, *, copy_rows: int = 0) -> NewSource:
    """Return a source with the tables of an existing database, which is only read.

    `address` is a DSN, or `NAME=DSN`; without a name, the source is named after the database. The
    first `copy_rows` rows by key of each table are included. Raises LabError (USAGE) if the
    database cannot be reached, or has no table that can be captured.
    """
    name, dsn = _named(address)
    engine, endpoint = parse_dsn(dsn)
    try:
        database = ENGINES[engine].client(endpoint)
    except LabError as error:
        raise LabError(
            error.what, hint="check the address given to --from-database", exit_code=ExitCode.USAGE
        ) from None
    with database:
        source = name or _source_name(endpoint.database)
        found = _tables(database, engine, endpoint)
        limits = {t.ref: ENGINES[engine].limits(database, t.ref, "") for t in found}
        config: dict[str, str] = json.loads(source_text(source, engine, ["x"]))
        left_out = _left_out(config, engine, found, limits)
        notes = tuple(_notes(found, left_out, engine, config, limits))
        tables = [table for table in found if table.ref not in left_out]
        keyed = [table for table in tables if table.keys]
        if not keyed:
            raise LabError(
                f"{endpoint.database} at {endpoint.host}:{endpoint.port} has no table with a "
                f"primary key that {endpoint.user} may read and labctl can write",
                hint="name another database, or another user",
                details=notes,
                exit_code=ExitCode.USAGE,
            )
        rows = _rows(database, keyed, copy_rows) if copy_rows else None
        schema = schema_statements(database, source, tables)
    return NewSource(
        source,
        engine,
        None if ENGINES[engine].schemas_are_databases else endpoint.database,
        tuple(dict.fromkeys(table.ref.schema for table in tables)),
        tuple(NewTable(t.ref, tuple(map(silver_column, t.keys))) for t in keyed),
        schema,
        rows,
        notes,
        tuple(
            column_entry(table.ref, column)
            for table in keyed
            for column in limits[table.ref].columns()
        ),
    )


def _named(address: str) -> tuple[str | None, str]:
    """Return the source's name, None if there is none, and the DSN. Raises LabError (USAGE) for an
    invalid name."""
    name, separator, dsn = address.partition("=")
    # With one of these characters, the text before `=` is part of a DSN. It may contain a password,
    # which no message may show.
    if not separator or set(":/@?") & set(name):
        return None, address
    first = next(iter(ENGINES.values()))
    require_source_name(name, f"NAME=DSN, as in orders={first.scheme}://reader@db.example/shop")
    return name, dsn


def _tables(database: Source, engine: EngineName, endpoint: Database) -> list[SourceTable]:
    """Return all tables of the named database outside system schemas."""
    own = re.compile(ENGINES[engine].system_schemas, re.IGNORECASE)
    is_schema = ENGINES[engine].schemas_are_databases
    schemas = [endpoint.database] if is_schema else sorted(database.schemas())
    return [
        database.describe(ref)
        for schema in schemas
        if own.fullmatch(schema) is None
        for ref in database.tables(schema)
    ]


def _source_name(database: str) -> str:
    name = re.sub(r"[^a-z0-9_-]", "_", database.lower()).lstrip("0123456789_-")[:30]
    return name if name and name not in NOT_SOURCES else "source"


def _left_out(
    config: Mapping[str, str],
    engine: EngineName,
    tables: Sequence[SourceTable],
    limits: Mapping[TableRef, Limits],
) -> dict[TableRef, str]:
    """Return why tables are left out: labctl cannot write or cannot capture them."""
    found = {t.ref: why_left_out(t, engine) for t in tables}
    refs = [table.ref for table in tables if found[table.ref] is None]
    for table in tables:
        if found[table.ref] is None:
            refused = [
                finding.why
                for finding in table_findings(table, engine, config, refs, limits[table.ref])
                # A table without a key is created, but not captured.
                if finding.verdict == "refused" and (table.keys or finding.stops_connector)
            ]
            if refused:
                found[table.ref] = "; ".join(refused)
                refs.remove(table.ref)
    return {ref: why for ref, why in found.items() if why is not None}


def _notes(
    tables: Sequence[SourceTable],
    left_out: Mapping[TableRef, str],
    engine: EngineName,
    config: Mapping[str, str],
    limits: Mapping[TableRef, Limits],
) -> Iterator[str]:
    captured = [table.ref for table in tables if table.ref not in left_out]
    for table in tables:
        limit = limits[table.ref]
        if reason := left_out.get(table.ref):
            yield f"{str(table.ref)!r} is left out: {reason}"
            continue
        if columns := limit.columns():
            yield (
                f"{table.ref}: {', '.join(columns)} are not captured, because no change has them; "
                f"{COLUMNS_LEFT_OUT} of the connector says so"
            )
        if not table.keys:
            yield f"{table.ref} has no primary key: it is made, and not captured"
        else:
            yield from column_notes(table, engine, config, captured, limit)


def schema_statements(database: Source, source: str, tables: Sequence[SourceTable]) -> str:
    """Return the script that creates the tables, schemas and types that do not exist yet."""
    return "".join(_statements(database, source, tables))


def _statements(database: Source, source: str, tables: Sequence[SourceTable]) -> Iterator[str]:
    forms = ENGINES[database.engine].sql_files
    end = forms.end
    yield (
        f"-- The tables of the source `{source}`, read from a database: columns, types and\n"
        "-- primary keys. Defaults, foreign keys, indexes and views are left out. `labctl up`\n"
        "-- runs this file when it has changed, so write it for a database that has some of it.\n"
    )
    for schema in dict.fromkeys(table.ref.schema for table in tables):
        if statement := forms.create_schema(database, schema):
            yield f"\n{statement}{end}"
    for statement in forms.create_types(database, {table.ref.schema for table in tables}):
        yield f"\n{statement}{end}"
    for table in tables:
        yield f"\n{_make_table(database, table)}{end}"


def _make_table(database: Source, table: SourceTable) -> str:
    name = database.qualified(table.ref)
    lines = [
        f"{database.quote(column.name)} {type_text(column.declared.full, database.engine)}"
        + (" NOT NULL" if not column.nullable or column.name in table.keys else "")
        for column in table.columns
    ]
    lines += [
        f"{database.quote(column.name)} {type_text(column.type, database.engine)}"
        for column in table.unread
    ]
    if table.keys:
        lines.append(f"PRIMARY KEY ({', '.join(map(database.quote, table.keys))})")
    body = ",\n".join(f"    {line}" for line in lines)
    statement = ENGINES[database.engine].sql_files.create_table
    return statement.format(name=name, text=name.replace("'", "''"), body=body)


def _rows(database: Source, tables: Sequence[SourceTable], count: int) -> str:
    """Return the INSERT statements for the first rows of each table."""
    end = ENGINES[database.engine].sql_files.end
    parts = ["-- A sample of rows. `labctl up` runs this file once.\n"]
    for table in tables:
        found = database.sample(table, count)
        names = ", ".join(database.quote(column.name) for column in table.columns)
        for start in range(0, len(found), _ROWS):
            values = ",\n".join(
                f"    ({', '.join(value_literal(value, database.engine) for value in row)})"
                for row in found[start : start + _ROWS]
            )
            parts.append(
                f"\nINSERT INTO {database.qualified(table.ref)} ({names}) VALUES\n{values}{end}"
            )
    return "".join(parts)
