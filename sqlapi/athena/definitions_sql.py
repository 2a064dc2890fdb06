"""SHOW, DESCRIBE, and statements that create, alter and drop databases, views and tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlapi.athena.outcome import Outcome, Work
from sqlapi.athena.results import Output
from sqlapi.athena.statements import Statement
from sqlapi.athena.tables_defined import TableStatements, read_only
from sqlapi.catalog.definitions import Definitions
from sqlapi.catalog.glue import Glue
from sqlapi.catalog.information_schema import SCHEMA
from sqlapi.catalog.matching import matching_hive
from sqlapi.catalog.views import is_view, view_input, view_text
from sqlapi.protocol.http_app import Members
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type
from sqlapi.storage import Storage

__all__ = ["DefinitionStatements", "full_name"]

_WIDTH = 20
_ATTEMPTS = 5


def full_name(names: tuple[str, ...], database: str) -> tuple[str, str]:
    """Return the database and the table of a dotted name."""
    return (names[-2] if len(names) > 1 else database), names[-1]


def _lines(name: str, values: list[str]) -> Outcome:
    return Outcome(Output.of_lines([name], values))


def _nothing() -> Outcome:
    return Outcome(Output.of_lines([], []))


class DefinitionStatements:
    """The statements on definitions, one per method. The methods raise SqlError."""

    def __init__(self, definitions: Definitions, catalog: str, storage: Storage) -> None:
        self._all = definitions
        self._glue = Glue(definitions)
        self._catalog = catalog
        self._tables = TableStatements(definitions, storage)

    def answers(self) -> dict[str, Callable[[Statement, Work], Outcome]]:
        return {
            "SHOW_DATABASES": self.show_databases,
            "SHOW_TABLES": self.show_tables,
            "SHOW_VIEWS": self.show_views,
            "SHOW_COLUMNS": self.show_columns,
            "SHOW_PARTITIONS": self.show_partitions,
            "SHOW_CREATE_TABLE": self.show_create_table,
            "SHOW_CREATE_VIEW": self.show_create_view,
            "SHOW_TBLPROPERTIES": self.show_properties,
            "DESCRIBE": self.describe,
            "CREATE_DATABASE": self.create_database,
            "DROP_DATABASE": self.drop_database,
            "DROP_VIEW": self.drop_view,
            "DROP_TABLE": self.drop_table,
            **self._tables.answers(),
        }

    def _table(self, statement: Statement, work: Work) -> dict[str, Any]:
        database, name = full_name(statement.names, work.database)
        try:
            return self._all.table(database, name)
        except ApiError:
            raise SqlError("TABLE_NOT_FOUND", f"Table {database}.{name} does not exist") from None

    def show_databases(self, statement: Statement, work: Work) -> Outcome:
        names = [database["Name"] for database in self._all.databases()]
        return _lines("database_name", matching_hive(names, statement.pattern))

    def show_tables(self, statement: Statement, work: Work) -> Outcome:
        return _lines("tab_name", matching_hive(self._names(statement, work), statement.pattern))

    def _names(self, statement: Statement, work: Work) -> list[str]:
        database = statement.names[-1] if statement.names else work.database
        try:
            return self._all.names(database)
        except ApiError:
            raise SqlError("SCHEMA_NOT_FOUND", f"Schema {database} not found") from None

    def show_views(self, statement: Statement, work: Work) -> Outcome:
        database = statement.names[-1] if statement.names else work.database
        names = [
            name for name in self._names(statement, work)
            if is_view((self._all.stored(database, name) or {"definition": {}})["definition"])
        ]  # fmt: skip
        return _lines("views", matching_hive(names, statement.pattern))

    def show_columns(self, statement: Statement, work: Work) -> Outcome:
        table = self._table(statement, work)
        names = [c["Name"] for c in _columns(table)]
        return _lines("field", [name.ljust(_WIDTH) for name in names])

    def show_partitions(self, statement: Statement, work: Work) -> Outcome:
        table = self._table(statement, work)
        keys = [key["Name"] for key in table.get("PartitionKeys") or []]
        if not keys:
            raise SqlError("INVALID_TABLE", f"Table {table['Name']} is not a partitioned table")
        given = {"DatabaseName": table["DatabaseName"], "TableName": table["Name"]}
        found = self._glue.get_partitions({**given, "MaxResults": 100_000})["Partitions"]
        return _lines(
            "partition",
            [
                # The table's keys may have changed since.
                "/".join(f"{k}={v}" for k, v in zip(keys, one["Values"], strict=False))
                for one in found
            ],
        )

    def show_create_table(self, statement: Statement, work: Work) -> Outcome:
        table = self._table(statement, work)
        if is_view(table):
            raise SqlError("INVALID_TABLE", f"{table['Name']} is a view")
        storage = table.get("StorageDescriptor") or {}
        library = (storage.get("SerdeInfo") or {}).get("SerializationLibrary") or ""
        lines = [f"CREATE EXTERNAL TABLE `{table['DatabaseName']}.{table['Name']}`("]
        lines += _column_lines(storage.get("Columns") or [])
        if keys := table.get("PartitionKeys"):
            lines += ["PARTITIONED BY ( ", *_column_lines(keys)]
        lines += ["ROW FORMAT SERDE ", f"  '{library}' "]
        lines += ["STORED AS INPUTFORMAT ", f"  '{storage.get('InputFormat') or ''}' "]
        lines += ["OUTPUTFORMAT ", f"  '{storage.get('OutputFormat') or ''}'"]
        lines += ["LOCATION", f"  '{storage.get('Location') or ''}'"]
        properties = [f"  '{k}'='{v}'" for k, v in sorted((table.get("Parameters") or {}).items())]
        lines += ["TBLPROPERTIES (", ", \n".join(properties) + ")"]
        return _lines("createtab_stmt", "\n".join(lines).split("\n"))

    def show_create_view(self, statement: Statement, work: Work) -> Outcome:
        table = self._table(statement, work)
        told = view_text(table.get("ViewOriginalText") or "") if is_view(table) else None
        if told is None:
            raise SqlError("INVALID_TABLE", f"{table['Name']} is not a view")
        text = f"CREATE VIEW {table['DatabaseName']}.{table['Name']} AS\n{told['originalSql']}"
        return _lines("Create View", text.split("\n"))

    def show_properties(self, statement: Statement, work: Work) -> Outcome:
        table = self._table(statement, work)
        parameters = table.get("Parameters") or {}
        if (name := statement.pattern) is not None:
            missing = (
                f"Table {table['DatabaseName']}.{table['Name']} does not have property: {name}"
            )
            return _lines("prpt_value", [parameters.get(name, missing)])
        found = sorted(parameters.items())
        lines = [f"{name}\t{value}" for name, value in found]
        return Outcome(Output.of_lines(["prpt_name", "prpt_value"], lines))

    def describe(self, statement: Statement, work: Work) -> Outcome:
        table = self._table(statement, work)
        columns = _columns(table)
        lines = [_described(c) for c in columns]
        if keys := table.get("PartitionKeys"):
            head = ["\t \t ", "# Partition Information\t \t ", _heading(), "\t \t "]
            lines += [*head, *(_described(key) for key in keys)]
        return Outcome(Output.of_lines(["col_name", "data_type", "comment"], lines))

    # databases and views

    def create_database(self, statement: Statement, work: Work) -> Outcome:
        try:
            if statement.names[-1] == SCHEMA:
                raise ApiError("AlreadyExistsException", "It is there in every catalog.")
            self._glue.create_database({"DatabaseInput": {"Name": statement.names[-1]}})
        except ApiError as error:
            if error.code != "AlreadyExistsException":
                raise SqlError("SYNTAX_ERROR", error.message) from None
            if "exists" not in statement.flags:
                raise SqlError(
                    "ALREADY_EXISTS", f"Database {statement.names[-1]} already exists"
                ) from None
        return _nothing()

    def drop_database(self, statement: Statement, work: Work) -> Outcome:
        name = statement.names[-1]
        try:
            names = self._all.names(name)
            if names and "cascade" not in statement.flags:
                raise SqlError(
                    "SCHEMA_NOT_EMPTY", f"Database {name} is not empty. One or more tables exist."
                )
            if name in self._all.of_source():
                raise SqlError("NOT_SUPPORTED", f"Database {name} is one of the lake")
            self._glue.delete_database({"Name": name})
        except ApiError:
            if "exists" not in statement.flags:
                raise SqlError("SCHEMA_NOT_FOUND", f"Database does not exist: {name}") from None
        return _nothing()

    def create_view(
        self, statement: Statement, work: Work, columns: Sequence[tuple[str, Type]]
    ) -> Outcome:
        """Create a view; `columns` are those of its query."""
        database, name = full_name(statement.names, work.database)
        labels = [label.lower() for label, _ in columns]
        if len(set(labels)) < len(labels):
            raise SqlError("DUPLICATE_COLUMN_NAME", "Column name specified more than once")
        definition = view_input(
            name,
            statement.query,
            catalog=self._catalog,
            database=work.database,
            columns=columns,
        )
        given = {"DatabaseName": database, "TableInput": definition}
        self._keep_view(given, replaces="replace" in statement.flags)
        return _nothing()

    def _keep_view(self, given: Members, *, replaces: bool) -> None:
        """Create the view; if `replaces`, replace an existing one."""
        database, name = given["DatabaseName"], given["TableInput"]["Name"]
        lost = ""
        for _ in range(_ATTEMPTS):
            row = self._all.stored(database, name)
            try:
                if row is None:
                    if self._all.source_name(database, name):
                        raise SqlError("ALREADY_EXISTS", f"Table already exists: {database}.{name}")
                    self._glue.create_table(given)
                elif not is_view(row["definition"]):
                    raise SqlError("ALREADY_EXISTS", f"Table already exists: {database}.{name}")
                elif not replaces:
                    raise SqlError("ALREADY_EXISTS", f"View already exists: {database}.{name}")
                else:
                    self._glue.update_table(given)
                return
            except ApiError as error:
                if row is None and error.code != "AlreadyExistsException":
                    raise SqlError("SCHEMA_NOT_FOUND", error.message) from None
                # Another client created, changed or dropped it meanwhile.
                lost = error.message
        raise SqlError("HIVE_METASTORE_ERROR", lost)

    def drop_view(self, statement: Statement, work: Work) -> Outcome:
        return self._drop(statement, work, view=True)

    def drop_table(self, statement: Statement, work: Work) -> Outcome:
        return self._drop(statement, work, view=False)

    def _drop(self, statement: Statement, work: Work, *, view: bool) -> Outcome:
        database, name = full_name(statement.names, work.database)
        row = self._all.stored(database, name)
        word = "View" if view else "Table"
        if row is None and not view and self._all.source_name(database, name):
            raise read_only(database, name)
        if row is None or is_view(row["definition"]) != view:
            if row is None and "exists" in statement.flags:
                return _nothing()
            raise SqlError("TABLE_NOT_FOUND", f"{word} '{database}.{name}' does not exist")
        self._glue.delete_table({"DatabaseName": database, "Name": name})
        return _nothing()


def _columns(table: dict[str, Any]) -> list[dict[str, Any]]:
    storage = table.get("StorageDescriptor") or {}
    return [*(storage.get("Columns") or []), *(table.get("PartitionKeys") or [])]


def _described(column: dict[str, Any]) -> str:
    parts = (column["Name"], column.get("Type") or "", column.get("Comment") or "")
    return "\t".join(part.ljust(_WIDTH) for part in parts)


def _heading() -> str:
    return "\t".join(part.ljust(_WIDTH) for part in ("# col_name", "data_type", "comment"))


def _column_lines(columns: list[dict[str, Any]]) -> list[str]:
    shown = [f"  `{c['Name']}` {c.get('Type') or ''}" for c in columns]
    return [f"{line}, " for line in shown[:-1]] + [f"{shown[-1]})"] if shown else [")"]
