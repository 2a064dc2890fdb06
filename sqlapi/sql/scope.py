"""The columns that an expression may use, and those that a query reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import Protocol

from sqlapi.sql.code import Code
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type

__all__ = ["Column", "Context", "Relation", "Schema", "Scope", "Table"]

_RELATIONS = 1000
"""Largest number of tables and subqueries in a statement; DuckDB plans more too slowly."""


@dataclass(frozen=True)
class Table:
    """The table or view that a name in FROM stands for."""

    key: str
    """The reader's name of it."""
    database: str
    name: str
    columns: Mapping[str, Type]
    """Types by name in lower case."""
    view: str | None = None
    """The SELECT of a view."""
    view_database: str = ""
    hidden: Mapping[str, Type] = field(default_factory=dict)
    """Columns that `*` does not show, but that a query can name."""

    def type_of(self, column: str) -> Type:
        return self.columns.get(column) or self.hidden[column]


class Schema(Protocol):
    """The interface to tables for the translation."""

    def table(self, catalog: str | None, database: str, name: str, as_of: str | None) -> Table:
        """Return the table of this name. Raises SqlError if there is none."""
        ...


@dataclass(frozen=True)
class Column:
    """A column that an expression may name."""

    name: str
    sql: str
    type: Type
    used: Callable[[], None] = lambda: None
    hidden: bool = False
    """True if `*` leaves it out."""


@dataclass(frozen=True)
class Relation:
    """Columns under one alias."""

    alias: str | None
    columns: tuple[Column, ...]
    database: str | None = None

    @cached_property
    def by_name(self) -> Mapping[str, list[Column]]:
        """The columns of each name, cached since a long SELECT has many names."""
        found: dict[str, list[Column]] = {}
        for column in self.columns:
            found.setdefault(column.name, []).append(column)
        return found


@dataclass
class Scope:
    """The relations of one SELECT; `outer` has those of the enclosing SELECT."""

    relations: list[Relation] = field(default_factory=list)
    merged: list[Column] = field(default_factory=list)
    """Columns of JOIN … USING, one for both sides."""
    hidden: set[tuple[str | None, str]] = field(default_factory=set)
    outer: Scope | None = None
    is_correlated: bool = False
    """True if a name was found in an enclosing SELECT."""
    variables: dict[str, Code] = field(default_factory=dict)
    """Parameters of lambdas, by name."""

    def columns(self, alias: str | None = None) -> list[Column]:
        """Return the columns of `*` or `alias.*`. Raises SqlError for an unknown alias."""
        if alias is not None:
            for relation in self.relations:
                if relation.alias == alias:
                    return [column for column in relation.columns if not column.hidden]
            if self.outer:
                return self.outer.columns(alias)
            raise SqlError("SYNTAX_ERROR", f"Unable to resolve reference {alias}")
        rest = [
            column
            for relation in self.relations
            for column in relation.columns
            if not column.hidden and (relation.alias, column.name) not in self.hidden
        ]
        return [*self.merged, *rest]

    def find(self, parts: list[str]) -> tuple[Column, list[str]] | None:
        """Return the column that a dotted name begins with, and the fields that follow; or None.

        Raises SqlError if two columns match.
        """
        found = self._qualified(parts) or self._plain(parts[0])
        if found:
            column, used = found
            return column, parts[used:]
        above = self.outer.find(parts) if self.outer else None
        self.is_correlated = self.is_correlated or above is not None
        return above

    def _qualified(self, parts: list[str]) -> tuple[Column, int] | None:
        for length in (3, 2, 1):
            if len(parts) <= length:
                continue
            *_, table = parts[:length]
            database = parts[length - 2] if length > 1 else None
            hits = [
                column
                for relation in self.relations
                if relation.alias == table and database in (None, relation.database)
                for column in relation.by_name.get(parts[length], ())
            ]
            if hits:
                return _only(hits, ".".join(parts)), length + 1
        return None

    def _plain(self, name: str) -> tuple[Column, int] | None:
        hits = [column for column in self.merged if column.name == name]
        hits += [
            column
            for relation in self.relations
            if (relation.alias, name) not in self.hidden
            for column in relation.by_name.get(name, ())
        ]
        return (_only(hits, name), 1) if hits else None


def _only(columns: list[Column], name: str) -> Column:
    if len(columns) > 1:
        raise SqlError("SYNTAX_ERROR", f"Column '{name}' is ambiguous")
    return columns[0]


@dataclass
class Context:
    """The shared state of one translation: its tables, generated names, and columns read."""

    schema: Schema
    database: str
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    read: dict[str, dict[str, Type]] = field(default_factory=dict)
    """The columns that are read, by table key, with their types."""
    tables: dict[str, Table] = field(default_factory=dict)
    _names: int = 0
    depth: int = 0
    nesting: int = 0
    """Number of expressions around the current one."""
    in_window: bool = False
    lambdas: int = 0
    """Number of lambdas around the current expression."""

    def name(self, prefix: str) -> str:
        """Return a unique name. Raises SqlError for too many tables and subqueries."""
        self._names += 1
        if self._names > _RELATIONS:
            raise SqlError("NOT_SUPPORTED", f"More than {_RELATIONS:,} tables in a statement")
        return f"{prefix}{self._names}"

    def use(self, table: Table, column: str) -> None:
        self.read.setdefault(table.key, {})[column] = table.type_of(column)
