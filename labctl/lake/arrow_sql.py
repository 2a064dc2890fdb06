"""SQL over Arrow tables with DuckDB: the tables and columns that a query needs, and its answer.

DuckDB plans the query over empty tables first, which shows the columns to read. In the real run the
other columns exist by name and type only, and an attempt to read their values is an error. So a
column left out by mistake can never become a wrong answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from labctl.errors import ExitCode, LabError
from lakecontract.table_names import quoted, tables_called
from sqlapi.source import Comparison
from sqlapi.sql.plan_conditions import whole_number_comparisons

__all__ = ["Scan", "SqlQuery", "UnreadColumnError"]

_UNREAD = "column was not read"
_POSITION_LINES = 3
_NO_TABLE = re.compile(r"Table with name (\S+) does not exist")


class SqlQuery:
    """A SELECT statement. Raises LabError (USAGE, with position) for anything else.

    `tables` are the full names of the existing tables.
    """

    def __init__(self, sql: str, tables: Sequence[str] = ()) -> None:
        self.sql = sql
        self._tables = tables
        self._connection = _connect()
        statements = self._checked(lambda: self._connection.extract_statements(sql))
        if [s.type for s in statements] != [duckdb.StatementType.SELECT]:
            raise LabError(
                "A query is one SELECT statement.",
                hint=f"Got {len(statements)} statements."
                if len(statements) != 1
                else f"Got {statements[0].type.name}.",
                exit_code=ExitCode.USAGE,
            )

    def tables(self) -> frozenset[str]:
        """Return the full names of the existing tables that the query may read.

        A short name that several tables have matches none of them. DuckDB, which knows the names of
        WITH clauses, then reports that there is no such table.
        """
        return frozenset(table for node in self._named() for table in self._meant(node))

    def others(self) -> frozenset[str]:
        """Return the names `database.name` that the query reads and that none of the tables has."""
        return frozenset(
            f"{node['schema_name']}.{node['table_name']}".lower()
            for node in self._named()
            if node.get("schema_name") and not self._meant(node)
        )

    def _named(self) -> Iterator[dict[str, Any]]:
        for node in _nodes(self._tree(self.sql)):
            if node.get("type") == "BASE_TABLE" and node.get("table_name"):
                yield node

    def _meant(self, node: Mapping[str, Any]) -> list[str]:
        parts = [part.lower() for part in (node.get("schema_name"), node["table_name"]) if part]
        found = tables_called(".".join(parts), self._tables)
        return found if len(found) == 1 else []

    def plan(self, schemas: Mapping[str, pa.Schema]) -> dict[str, Scan]:
        """Return, per table, the most that the query needs of it."""
        for name, schema in schemas.items():
            self._define(name, schema.empty_table(), schema, ())
        # over no rows, so that errors come with positions in the user's own text
        self._checked(lambda: self._connection.execute(self.sql).fetchall())
        ((_, text),) = self._checked(
            lambda: self._connection.execute(f"explain (format json) {self.sql}").fetchall()
        )
        nodes = list(_nodes(json.loads(text)))
        scanned = {column for node in nodes for column in _scanned_columns(node)}
        where = self._comparisons(nodes, schemas) if len(schemas) == 1 else []
        return {
            name: Scan([c for c in schema.names if c in scanned] or schema.names, where)
            for name, schema in schemas.items()
        }

    def run(
        self,
        tables: Mapping[str, pa.Table],
        schemas: Mapping[str, pa.Schema],
        conditions: Mapping[str, Sequence[str]] | None = None,
    ) -> pa.Table:
        """Return the result over `tables`, which may lack columns of `schemas`.

        Only rows that meet the SQL `conditions` of a table are seen. Raise UnreadColumnError when a
        missing column turns out to be needed.
        """
        for name, schema in schemas.items():
            self._define(name, tables[name], schema, (conditions or {}).get(name, ()))
        relation = self._checked(lambda: self._connection.sql(self.sql))
        result = self._checked(relation.to_arrow_table)
        return _plain_integers(result, [str(t) for t in relation.types])

    def _define(
        self, name: str, table: pa.Table, schema: pa.Schema, conditions: Sequence[str]
    ) -> None:
        data, types = f"__rows_{name}", f"__columns_{name}"
        self._connection.register(data, table)
        self._connection.register(types, schema.empty_table())
        described = self._connection.execute(f"describe {_quoted(types)}").fetchall()
        columns = [
            _quoted(column)
            if column in table.column_names
            else f"error('{_UNREAD}: {name}.{column}')::{kind} as {_quoted(column)}"
            for column, kind, *_ in described
        ]
        where = " and ".join(["true", *conditions])
        select = f"select {', '.join(columns)} from {_quoted(data)} where {where}"  # noqa: S608
        database, _, short_name = map(_quoted, name.partition("."))
        self._connection.execute(f"create schema if not exists {database}")
        self._connection.execute(f"create or replace view {quoted(name)} as {select}")
        short = name.rpartition(".")[2]
        if len(tables_called(short, self._tables)) == 1:
            self._connection.execute(
                f"create or replace temp view {short_name} as select * from {quoted(name)}"  # noqa: S608
            )

    def _comparisons(
        self, nodes: Sequence[Mapping[str, Any]], schemas: Mapping[str, pa.Schema]
    ) -> list[Comparison]:
        """Return the comparisons with a whole number that every row of the only scan must meet.

        DuckDB gives the filter above the scan as text, and parses that text again here.
        """
        (schema,) = schemas.values()
        scans = [node for node in nodes if _is_scan(node)]
        filters = [n for n in nodes if n.get("name") == "FILTER" and n.get("children") == scans]
        if len(scans) != 1 or len(filters) != 1:
            return []
        tree = self._tree(f"select {filters[0]['extra_info']['Expression']}")
        (condition,) = tree["statements"][0]["node"]["select_list"]
        found = whole_number_comparisons(condition)
        return [c for c in found if pa.types.is_integer(schema.field(c[0]).type)]

    def _tree(self, sql: str) -> dict[str, Any]:
        ((text,),) = self._connection.execute(
            "select json_serialize_sql(?::varchar)", [sql]
        ).fetchall()
        tree: dict[str, Any] = json.loads(text)
        return tree

    def _checked(self, run: Callable[[], Any]) -> Any:
        try:
            return run()
        except duckdb.Error as error:
            if _UNREAD in str(error):
                raise UnreadColumnError from error
            raise self._explained(error) from None

    def _explained(self, error: duckdb.Error) -> LabError:
        """Return an error in DuckDB's own words, with its drawn line and caret as details."""
        text = str(error)
        message, _, drawing = text.partition("\n\nLINE ")
        kind, _, what = message.partition(" Error: ")
        lines = ("LINE " + drawing).splitlines()[:_POSITION_LINES] if drawing else []
        position = ""
        if len(lines) > 1 and (caret := re.search(r"\^", lines[1])):
            prefix = re.match(r"LINE (\d+): ", lines[0])
            if prefix:
                position = f", line {prefix[1]}, column {caret.start() - prefix.end() + 1}"
        if missing := _NO_TABLE.search(what):
            name = missing[1].strip('"')
            called = tables_called(name.lower(), self._tables)
            if len(called) > 1:
                return LabError(
                    f"There is more than one silver table '{name}'{position}.",
                    hint=f"Write the database, too: {', '.join(called)}.",
                    details=tuple(lines),
                    exit_code=ExitCode.USAGE,
                )
            return LabError(
                f"There is no silver table '{name}'{position}.",
                hint=f"Tables: {', '.join(self._tables) or 'none yet'}.",
                details=tuple(lines),
                exit_code=ExitCode.USAGE,
            )
        return LabError(
            f"SQL {kind.lower()} error{position}: {what.splitlines()[0] if what else text}",
            hint=" ".join(what.splitlines()[1:]) or None,
            details=tuple(lines),
            exit_code=ExitCode.USAGE,
        )


@dataclass(frozen=True)
class Scan:
    """The part of a table that a query needs: some columns, and rows that meet all comparisons."""

    columns: list[str]
    where: list[Comparison]


class UnreadColumnError(Exception):
    """Error for a column that the real run reads although the first plan did not."""


def _connect() -> duckdb.DuckDBPyConnection:
    """Return an in-memory database that sees nothing but the tables it is given."""
    connection = duckdb.connect(":memory:")
    connection.execute(
        "set TimeZone = 'UTC'; set python_enable_replacements = false;"
        "set enable_external_access = false; set lock_configuration = true"
    )
    return connection


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        children = tree.values()
    elif isinstance(tree, list):
        children = tree  # type: ignore[assignment]
    else:
        return
    for child in children:
        yield from _nodes(child)


def _is_scan(node: Mapping[str, Any]) -> bool:
    return "ARROW_SCAN" in str(node.get("name"))


def _scanned_columns(node: Mapping[str, Any]) -> list[str]:
    if not _is_scan(node):
        return []
    columns = node["extra_info"].get("Projections", [])
    return [columns] if isinstance(columns, str) else columns


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _plain_integers(result: pa.Table, types: list[str]) -> pa.Table:
    """Convert DuckDB's 128-bit sums to 64-bit integers, as Spark gives them, where they fit."""
    for index, kind in enumerate(types):
        if kind == "HUGEINT":
            column = result.column(index)
            try:
                narrow = pc.cast(column, pa.int64())
            except pa.ArrowInvalid:
                continue
            result = result.set_column(index, result.field(index).name, narrow)
    return result
