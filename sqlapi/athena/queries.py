"""SELECT, EXPLAIN, CREATE VIEW, CTAS, INSERT, UNLOAD, and prepared statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import unquote

from sqlapi.athena.definitions_sql import DefinitionStatements, full_name
from sqlapi.athena.inserts import insert_columns, insert_query, insert_target
from sqlapi.athena.outcome import Outcome, Work
from sqlapi.athena.partitions import check_keys, escaped
from sqlapi.athena.results import Output
from sqlapi.athena.statements import Statement, parse
from sqlapi.athena.tables_defined import read_only
from sqlapi.athena.tables_written import FORMATS, Target, storage_descriptor
from sqlapi.catalog.definitions import Definitions
from sqlapi.catalog.glue import Glue
from sqlapi.catalog.table_inputs import place_of, s3_place
from sqlapi.catalog.views import is_view
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type
from sqlapi.storage import LocationError, Storage
from sqlapi.workers.jobs import Answered, Describe, Explain, Select, Write
from sqlapi.workers.run import Run

__all__ = ["QueryStatements"]

_PREPARED = re.compile(r"[a-z_][a-z0-9_@:]{0,256}")
"""The name of a prepared statement that Athena's API takes, in lower case."""
_EXPLAINED = {
    "TYPE": ("LOGICAL", "DISTRIBUTED", "VALIDATE", "IO"),
    "FORMAT": ("TEXT", "GRAPHVIZ", "JSON"),
}
"""The options of EXPLAIN, with their values."""
Answer = Callable[[Statement, Work, Run], Outcome]


class QueryStatements:
    """The statements with queries, one per method. The methods raise SqlError and StoppedError."""

    def __init__(
        self,
        definitions: Definitions,
        storage: Storage,
        catalog: str,
        statements: DefinitionStatements,
    ) -> None:
        self._all = definitions
        self._definitions = statements
        self._glue = Glue(definitions)
        self._store = definitions.store
        self._storage = storage
        self._catalog = catalog

    def answers(self) -> dict[str, Answer]:
        return {
            "SELECT": self.select,
            "EXPLAIN": self.explain,
            "CREATE_VIEW": self.create_view,
            "CREATE_TABLE_AS_SELECT": self.create_table,
            "INSERT": self.insert,
            "UNLOAD": self.unload,
            "PREPARE": self.prepare,
            "EXECUTE": self.execute,
            "DEALLOCATE": self.deallocate,
        }

    def _columns(self, sql: str, work: Work, run: Run) -> list[tuple[str, Type]]:
        """Return the columns of a query, with names in lower case."""
        job = Describe(sql, work.database, work.parameters)
        return [(label.lower(), kind) for label, kind in run.ask(job).columns]

    def select(self, statement: Statement, work: Work, run: Run) -> Outcome:
        told = run.ask(
            Select(statement.query, work.database, work.parameters, work.location, work.limit)
        )
        output = Output.of_query(told.columns, self._catalog, told.layout, told.beginning)
        return Outcome(output, told.scanned, input_rows=told.input_rows)

    def explain(self, statement: Statement, work: Work, run: Run) -> Outcome:
        inner = parse(statement.query)
        if inner.verb != "SELECT":
            raise SqlError("NOT_SUPPORTED", f"EXPLAIN of {inner.verb}")
        options = _explain_options(statement.pattern)
        if options.get("TYPE") == "VALIDATE":
            run.ask(Describe(inner.query, work.database, work.parameters))
            return Outcome(Output.of_lines(["Valid"], ["true"]))
        if options.get("TYPE") == "IO" or options.get("FORMAT", "TEXT") != "TEXT":
            raise SqlError("NOT_SUPPORTED", "EXPLAIN has plans as text alone here, none of type IO")
        plan = run.ask(Explain(inner.query, work.database, work.parameters)).lines
        return Outcome(Output.of_lines(["Query Plan"], list(plan)))

    def create_view(self, statement: Statement, work: Work, run: Run) -> Outcome:
        columns = run.ask(Describe(statement.query, work.database)).columns
        return self._definitions.create_view(statement, work, columns)

    # files

    def create_table(self, statement: Statement, work: Work, run: Run) -> Outcome:
        database, name = full_name(statement.names, work.database)
        self._check_new(database, name, statement)
        options = statement.options
        known = {"format", "external_location", "partitioned_by", "write_compression",
                 "parquet_compression", "field_delimiter", "table_type", "is_external",
                 "format_version"}  # fmt: skip
        if extra := set(options) - known:
            raise SqlError(
                "INVALID_TABLE_PROPERTY", f"Table property '{min(extra)}' does not exist"
            )
        if _text(options.get("table_type", "'HIVE'")).upper() != "HIVE":
            raise SqlError("NOT_SUPPORTED", "Only tables of type HIVE can be made")
        given = _text(options["external_location"]) if "external_location" in options else ""
        location = given or f"{work.location.rpartition('/')[0]}/tables/{work.id}"
        target = self._target(options, location, _list(options.get("partitioned_by", "ARRAY[]")))
        columns = self._columns(statement.query, work, run)
        labels = [label for label, _ in columns]
        if len(set(labels)) < len(labels):
            raise SqlError("DUPLICATE_COLUMN_NAME", "Column name specified more than once")
        if any(re.fullmatch(r"_col\d+", label) for label in labels):
            raise SqlError("MISSING_COLUMN_NAME", "Column name not specified")
        keys = list(target.partitioned_by)
        check_keys(columns, keys)
        told = self._write(target, statement, work, run)
        plain = [c for c in columns if c[0] not in keys]
        definition: dict[str, Any] = {
            "Name": name,
            "TableType": "EXTERNAL_TABLE",
            "Parameters": {"EXTERNAL": "TRUE", "has_encrypted_data": "false",
                           "auto.purge": "false", "numRows": str(told.rows)},
            "PartitionKeys": [{"Name": n, "Type": k.glue} for n, k in columns if n in keys],
            "StorageDescriptor": storage_descriptor(target, plain),
        }  # fmt: skip
        self._register(database, name, definition, told.files, work)
        return self._written(told, work)

    def _check_new(self, database: str, name: str, statement: Statement) -> None:
        try:
            self._all.database(database)
        except ApiError:
            raise SqlError("SCHEMA_NOT_FOUND", f"Schema {database} not found") from None
        if self._all.stored(database, name) or self._all.source_name(database, name):
            raise SqlError("TABLE_ALREADY_EXISTS", f"Table '{database}.{name}' already exists")

    def _register(
        self, database: str, name: str, definition: dict[str, Any],
        files: Sequence[tuple[str, list[str]]], work: Work,
    ) -> None:  # fmt: skip
        try:
            self._glue.create_table({"DatabaseName": database, "TableInput": definition})
        except ApiError as error:
            if error.code != "AlreadyExistsException":
                raise SqlError("INVALID_TABLE_PROPERTY", error.message) from None
            raise SqlError(
                "TABLE_ALREADY_EXISTS", f"Table '{database}.{name}' already exists"
            ) from None
        work.made.clear()
        self._add_partitions(database, name, definition, files)

    def _add_partitions(
        self, database: str, name: str, definition: dict[str, Any],
        files: Sequence[tuple[str, list[str]]],
    ) -> None:  # fmt: skip
        given = {"DatabaseName": database, "TableName": name}
        known = [one["Values"] for one in self._all.partitions(database, name)]
        for uri, values in files:
            if not values or values in known:
                continue
            storage = definition["StorageDescriptor"] | {"Location": uri.rpartition("/")[0]}
            partition = {"Values": values, "StorageDescriptor": storage}
            try:
                self._glue.create_partition({**given, "PartitionInput": partition})
            except ApiError as error:  # another statement may have added it meanwhile
                if error.code != "AlreadyExistsException":
                    raise SqlError("HIVE_METASTORE_ERROR", error.message) from None

    def insert(self, statement: Statement, work: Work, run: Run) -> Outcome:
        """Add files to a table that a client has defined."""
        database, name = full_name(statement.names, work.database)
        if self._all.lake_table(database, name):
            raise read_only(database, name)
        row = self._all.stored(database, name)
        if row is None:
            raise SqlError("TABLE_NOT_FOUND", f"Table '{database}.{name}' does not exist")
        definition = row["definition"]
        if is_view(definition):
            raise SqlError("NOT_SUPPORTED", "Inserting into views is not supported")
        target, columns = insert_target(definition), insert_columns(definition)
        try:
            self._storage.check(target.location)
        except LocationError as error:
            raise SqlError("INVALID_TABLE_PROPERTY", str(error)) from None
        for one in self._all.partitions(database, name):
            if unquote(place_of(one)) != unquote(_folder(target, one["Values"])):
                raise SqlError("NOT_SUPPORTED", "INSERT into a table with partitions elsewhere")
        given = [kind for _, kind in self._columns(statement.query, work, run)]
        sql = insert_query(statement.query, given, columns, statement.values)
        told = self._write(target, replace(statement, query=sql), work, run)
        # Files whose partitions cannot be added are taken away with the failed statement.
        self._add_partitions(database, name, definition, told.files)
        work.made.clear()
        return self._written(told, work)

    def unload(self, statement: Statement, work: Work, run: Run) -> Outcome:
        options = statement.options
        if "format" not in options:
            raise SqlError("INVALID_UNLOAD_PROPERTY", "The format property is required for UNLOAD")
        if extra := set(options) - {"format", "compression", "field_delimiter", "partitioned_by"}:
            raise SqlError(
                "INVALID_UNLOAD_PROPERTY", f"Unload property '{min(extra)}' does not exist"
            )
        target = self._target(
            options, statement.pattern or "", _list(options.get("partitioned_by", "ARRAY[]"))
        )
        columns = self._columns(statement.query, work, run)
        if len({label for label, _ in columns}) < len(columns):
            raise SqlError("DUPLICATE_COLUMN_NAME", "Column name specified more than once")
        check_keys(columns, target.partitioned_by)
        told = self._write(target, statement, work, run)
        work.made.clear()
        return self._written(told, work)

    def _target(self, options: dict[str, str], location: str, keys: tuple[str, ...]) -> Target:
        kind = _text(options.get("format", "'PARQUET'")).upper()
        if kind not in FORMATS:
            raise SqlError("NOT_SUPPORTED", f"Format {kind} is not supported")
        compression = ""
        for key in ("compression", "write_compression", "parquet_compression"):
            if key in options:
                compression = _text(options[key]).upper()
        allowed = (
            ("", "NONE", "GZIP", "SNAPPY", "ZSTD") if kind == "PARQUET" else ("", "NONE", "GZIP")
        )
        if compression not in allowed:
            raise SqlError("NOT_SUPPORTED", f"Compression {compression} is not supported")
        try:
            self._storage.check(location)
            self._storage.check_bucket(location)
        except LocationError as error:
            raise SqlError("INVALID_TABLE_PROPERTY", str(error)) from None
        if self._storage.list(location):
            raise SqlError(
                "HIVE_PATH_ALREADY_EXISTS", f"Target directory already exists: {location}"
            )
        delimiter = _text(options["field_delimiter"]) if "field_delimiter" in options else "\x01"
        if len(delimiter) != 1 or not delimiter.isascii() or delimiter in "\r\n":
            raise SqlError(
                "INVALID_TABLE_PROPERTY", "field_delimiter must be a single ASCII character"
            )
        return Target(location.rstrip("/"), kind, compression, delimiter, keys)

    def _write(self, target: Target, statement: Statement, work: Work, run: Run) -> Answered:
        name = "" if "nodata" in statement.flags else f"{work.id}_00000"
        job = Write(
            statement.query, work.database, work.parameters, target, name, work.limit
        )  # fmt: skip
        try:
            told = run.ask(job)
        except Exception:
            # If the worker has died, only a listing shows the files that it has written.
            files = self._storage.list(target.location)
            work.made.extend(uri for uri in files if work.id in uri.rpartition("/")[2])
            raise
        work.made.extend(uri for uri, _ in told.files)
        return told

    def _written(self, told: Answered, work: Work) -> Outcome:
        output = Output.of_lines(["rows"], [])
        manifest = self._manifest(told.files, work)
        return Outcome(output, told.scanned, manifest, told.rows, told.input_rows)

    def _manifest(self, files: Sequence[tuple[str, list[str]]], work: Work) -> str:
        uri = f"{work.location.rpartition('/')[0]}/{work.id}-manifest.csv"
        self._storage.write(uri, "".join(f"{file}\n" for file, _ in files).encode())
        return uri

    # prepared statements

    def prepare(self, statement: Statement, work: Work, run: Run) -> Outcome:
        parse(statement.query)
        if not _PREPARED.fullmatch(statement.names[-1]):
            raise SqlError(
                "SYNTAX_ERROR", f"Invalid name of a prepared statement: {statement.names[-1][:60]}"
            )
        self._store.run(
            "INSERT INTO prepared_statement (workgroup, name, statement) VALUES (%s, %s, %s)"
            " ON CONFLICT (workgroup, name) DO UPDATE"
            " SET statement = excluded.statement, modified = now()",
            [work.workgroup, statement.names[-1], statement.query],
        )
        return Outcome(Output.of_lines([], []))

    def _prepared(self, name: str, work: Work) -> str:
        row = self._store.row(
            "SELECT statement FROM prepared_statement WHERE workgroup = %s AND lower(name) = %s",
            [work.workgroup, name],
        )
        if row is None:
            raise SqlError("NOT_FOUND", f"Prepared statement not found: {name}")
        return str(row["statement"])

    def execute(self, statement: Statement, work: Work, run: Run) -> Outcome:
        inner = parse(self._prepared(statement.names[-1], work))
        if inner.verb not in ("SELECT", "UNLOAD", "CREATE_TABLE_AS_SELECT", "INSERT"):
            raise SqlError("NOT_SUPPORTED", f"EXECUTE of {inner.verb}")
        values = statement.values or work.parameters
        again = Work(
            work.id, work.location, work.database, work.workgroup, values, work.limit, work.made
        )
        return self.answers()[inner.verb](inner, again, run)

    def deallocate(self, statement: Statement, work: Work, run: Run) -> Outcome:
        self._prepared(statement.names[-1], work)
        self._store.run(
            "DELETE FROM prepared_statement WHERE workgroup = %s AND lower(name) = %s",
            [work.workgroup, statement.names[-1]],
        )
        return Outcome(Output.of_lines([], []))


def _explain_options(text: str | None) -> dict[str, str]:
    """Parse `TYPE LOGICAL, FORMAT TEXT`. Raises SqlError for others, or one that is repeated."""
    found: dict[str, str] = {}
    for part in (text or "").split(",") if text else []:
        name, _, value = " ".join(part.upper().split()).partition(" ")
        if name in found or value not in _EXPLAINED.get(name, ()):
            raise SqlError("SYNTAX_ERROR", f"line 1:9: mismatched input '{part.strip()[:100]}'")
        found[name] = value
    return found


def _text(value: str) -> str:
    """Return the value of a property, without its quotes. Raises SqlError."""
    found = re.fullmatch(r"'((?:[^']|'')*)'", value.strip())
    if found:
        return found[1].replace("''", "'")
    if re.fullmatch(r"\w+", value.strip()):
        return value.strip()
    raise SqlError("INVALID_TABLE_PROPERTY", f"Not a text: {value}")


def _list(value: str) -> tuple[str, ...]:
    if not re.fullmatch(r"ARRAY\s*\[.*\]", value.strip(), re.IGNORECASE | re.DOTALL):
        raise SqlError("INVALID_TABLE_PROPERTY", f"Not an array: {value}")
    return tuple(name.lower() for name in re.findall(r"'([^']*)'", value))


def _folder(target: Target, values: Sequence[str]) -> str:
    """Return where INSERT writes the rows of a partition."""
    keys = zip(target.partitioned_by, values, strict=False)
    names = (f"{escaped(key)}={escaped(value)}" for key, value in keys)
    return "/".join([s3_place(target.location), *names])
