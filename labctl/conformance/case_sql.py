"""The SQL of a generated table: DDL, rows, and each step of its history."""

# ruff: noqa: S608 - names are quoted, and values are literals chosen by hand

from __future__ import annotations

from collections.abc import Iterator

from labctl.conformance.cases import Case, Change, Column, Row
from labctl.sources import ENGINES, TableRef
from labctl.sources.base import quoted

__all__ = ["Script", "table_name"]


def table_name(case: Case, token: str) -> str:
    """Return a table's name in a run: the case's name with the token, cut to the longest name."""
    name = case.name.replace("{0}", token)
    traits = ENGINES[case.engine].conformance()
    longest = traits.longest_name
    if traits.names_in_bytes:
        return name.encode()[:longest].decode(errors="ignore")
    return name[:longest]


class Script:
    """The statements of one case, with the current state of its columns and rows."""

    def __init__(self, case: Case, ref: TableRef) -> None:
        self.case = case
        self._traits = ENGINES[case.engine].conformance()
        self._table = f"{self._quote(ref.schema)}.{self._quote(ref.name)}"
        self._columns = {column.name: column for column in case.columns}
        self.names = {column.name: column.name for column in case.columns}
        """Current names of the columns, by original name."""
        self.ever_called = set(self.names.values())
        """Every name that a column has or had: a value is put aside under the name of its time."""
        self._where: dict[int, Row] = {}
        self.forms = {column.name: column.kind.form for column in case.columns}
        """Forms of the columns' values, by original name; None for a type that is not compared."""
        self.needs_backfill = False
        """True once a statement has changed rows without entries in the database's log."""

    def _quote(self, name: str) -> str:
        return quoted(name, self._traits.quotes)

    def create(self) -> str:
        """Return the CREATE TABLE statement."""
        lines = [self._declared(column) for column in self.case.columns]
        if self.case.keys:
            lines.append(f"PRIMARY KEY ({', '.join(map(self._quote, self.case.keys))})")
        return f"CREATE TABLE {self._table} ({', '.join(lines)})"

    def drop(self) -> str:
        """Return the DROP TABLE statement."""
        return f"DROP TABLE {self._table}"

    def load(self) -> Iterator[str]:
        """Yield an INSERT for each row that exists before capture."""
        for number, row in self.case.rows:
            yield self._insert(number, row)

    def change(self, change: Change) -> str | None:
        """Return the statement of one step; None if its row or column does not exist."""
        match change.what:
            case "insert":
                return self._insert(change.row or 0, change.cells)
            case "update" | "rekey" | "delete":
                return self._of_row(change)
            case "truncate":
                self._where.clear()
                return f"TRUNCATE TABLE {self._table}"
            case _:
                return self._ddl(change)

    def _declared(self, column: Column) -> str:
        parts = [self._quote(column.name), column.kind.declared]
        if column.generated is not None:
            parts.append(f"GENERATED ALWAYS AS ({column.generated}) STORED")
        elif column.default:
            parts.append(f"DEFAULT {column.kind.typical}")
        if column.nullable and self._traits.null_is_said:
            parts.append("NULL")
        if not column.nullable:
            parts.append("NOT NULL")
        return " ".join(parts)

    def _insert(self, number: int, row: Row) -> str:
        there = {
            name: cell.literal
            for name, cell in row.items()
            if name in self.names and cell.literal != "DEFAULT"
        }
        self._where[number] = {key: row[key] for key in self.case.keys if key in row}
        names = ", ".join(self._quote(self.names[name]) for name in there)
        return f"INSERT INTO {self._table} ({names}) VALUES ({', '.join(there.values())})"

    def _of_row(self, change: Change) -> str | None:
        key = self._where.get(-1 if change.row is None else change.row)
        if not key:
            return None
        condition = " AND ".join(
            f"{self._quote(self.names[name])} = {self._key_literal(name, cell.literal)}"
            for name, cell in key.items()
        )
        if change.what == "delete":
            self._where.pop(change.row or 0)
            return f"DELETE FROM {self._table} WHERE {condition}"
        cells = {name: cell for name, cell in change.cells.items() if name in self.names}
        if not cells:
            return None
        if change.what == "rekey":
            self._where[change.row or 0] = {**key, **cells}
        changes = ", ".join(
            f"{self._quote(self.names[name])} = {cell.literal}" for name, cell in cells.items()
        )
        return f"UPDATE {self._table} SET {changes} WHERE {condition}"

    def _key_literal(self, name: str, literal: str) -> str:
        """Return a key's literal; cast a binary key's, because the database pads binary keys."""
        declared = self._columns[name].kind.declared
        if self._traits.pads_binary_keys and declared.startswith("binary("):
            return f"CAST({literal} AS {declared})"
        return literal

    def _ddl(self, change: Change) -> str | None:
        column = change.column
        if column is None or (change.what != "add" and column.name not in self.names):
            return None
        alter = f"ALTER TABLE {self._table}"
        filled = change.what == "add" and column.default
        if filled or change.what in ("rename", "retype"):
            self.needs_backfill = True
        if change.what == "add":
            self.names[column.name] = column.name
            self.ever_called.add(column.name)
            self._columns[column.name] = column
            self.forms[column.name] = column.kind.form
            return f"{alter} {self._traits.add_column} {self._declared(column)}"
        name = self._quote(self.names[column.name])
        if change.what == "drop":
            self.names.pop(column.name)
            clause = f"DROP COLUMN {name}"
        elif change.what == "rename":
            self.names[column.name] = change.text
            self.ever_called.add(change.text)
            clause = f"RENAME COLUMN {name} TO {self._quote(change.text)}"
        elif change.what == "default":
            clause = f"ALTER COLUMN {name} SET DEFAULT ({change.text})"
        else:
            clause = self._retyped(column, name, change.text)
        return f"{alter} {clause}"

    def _retyped(self, column: Column, name: str, declared: str) -> str:
        if declared == "text" and column.kind.form is not None:
            self.forms[column.name] = "text"
        if declared == "timestamp":
            self.forms[column.name] = "timestamp"
        return self._traits.retype(name, declared, column.nullable)
