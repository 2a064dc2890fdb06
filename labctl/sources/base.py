"""The interface of a source database, the same for every engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from labctl.engine_names import EngineName
from labctl.errors import LabError

if TYPE_CHECKING:
    # Half of the commands do without Arrow, which takes 0.4 s to load.
    import pyarrow as pa

    from labctl.sources.type_rules import TypeRule

__all__ = [
    "JSON_MARK",
    "Parameter",
    "Rollback",
    "Row",
    "Source",
    "SourceColumn",
    "SourceTable",
    "TableKeys",
    "TableRef",
    "UnreadColumn",
    "quoted",
]

Row = tuple[Any, ...]
"""Values as the driver returns them."""
Parameter = object

JSON_MARK = b"labctl.json"
"""Metadata key of a column whose values are compared as JSON."""


class Rollback(Exception):  # noqa: N818 - a request, not an error
    """A request inside `Source.transaction()` to roll back and continue after the block."""


@dataclass(frozen=True, order=True)
class TableRef:
    """A table's name within its database server; for MySQL, `schema` is the database."""

    schema: str
    name: str

    def __str__(self) -> str:
        return f"{self.schema}.{self.name}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse `schema.table`; raise `LabError` for anything else."""
        schema, dot, name = text.partition(".")
        if not (schema and dot and name):
            raise LabError(f"{text!r} names no table.", hint="write schema.table, as in ecomm.sale")
        return cls(schema, name)


@dataclass(frozen=True)
class Declared:
    """A column's type as the database's catalogue describes it."""

    name: str
    """Type name without its size, lower case: `numeric`, `character varying`, `datetime`."""
    full: str
    """The type as in a column definition: `numeric(8,2)`, `smallint unsigned`."""
    precision: int | None = None
    scale: int | None = None


@dataclass(frozen=True)
class SourceColumn:
    """A column, as the catalogue describes it."""

    name: str
    declared: Declared
    nullable: bool
    rule: TypeRule

    @property
    def arrow(self) -> pa.DataType:
        """The type of the column's values here and in silver."""
        return self.rule.silver_type(self.declared)

    @property
    def field(self) -> pa.Field[Any]:
        """The column's Arrow field; its metadata is marked if values are compared as JSON."""
        import pyarrow as pa

        marks = {JSON_MARK: b"1"} if self.rule.is_json else None
        return pa.field(self.name, self.arrow, self.nullable, marks)

    @property
    def wire(self) -> pa.DataType:
        """The type of the text in which the database sends the values."""
        return self.rule.wire or self.arrow


@dataclass(frozen=True)
class UnreadColumn:
    """A column whose type has no exact place in silver."""

    name: str
    type: str
    """The type as the catalogue shows it."""

    def __str__(self) -> str:
        return f"{self.name}: {self.type}"


@dataclass(frozen=True)
class SourceTable:
    """A table, as the catalogue describes it."""

    ref: TableRef
    columns: tuple[SourceColumn, ...]
    """Readable columns, in the table's order."""
    keys: tuple[str, ...]
    """Columns of the primary key, in key order; empty when there is none."""
    unread: tuple[UnreadColumn, ...] = ()
    """The columns that `columns` leaves out."""

    @classmethod
    def of(
        cls,
        ref: TableRef,
        rules: Mapping[str, TypeRule],
        columns: Iterable[tuple[str, Declared, bool]],
        keys: Sequence[str],
    ) -> Self:
        """Return the table, given each column's name, type and whether it may be null."""
        from labctl.sources.type_rules import rule_for

        found, unread = [], []
        for name, declared, nullable in columns:
            try:
                column = SourceColumn(name, declared, nullable, rule_for(rules, declared, name))
                _ = column.arrow
            except LabError:
                unread.append(UnreadColumn(name, declared.full))
            else:
                found.append(column)
        return cls(ref, tuple(found), tuple(keys), tuple(unread))

    @property
    def arrow(self) -> pa.Schema:
        """Schema of the rows that `Source.read` returns."""
        import pyarrow as pa

        return pa.schema([column.field for column in self.columns])


@dataclass(frozen=True)
class TableKeys:
    """The keys by which a table's rows differ, as the catalogue describes them."""

    primary: tuple[str, ...] = ()
    """Columns of the primary key, in key order; empty when there is none."""
    unique: tuple[tuple[str, ...], ...] = ()
    """Columns of each unique index that has every row, and of which no column may be null; those
    of the primary key too."""


class Source(ABC):
    """An open connection to a source database. Threads must not share it.

    Every statement commits by itself, except inside `transaction()`. Parameters are written `%s`;
    a percent sign in a statement that has parameters is written `%%`.
    Errors of the database reach the caller as `LabError` with the statement that failed.
    """

    engine: ClassVar[EngineName]
    """The server's engine: `postgres`, `mysql`, …"""
    _quotes: ClassVar[tuple[str, str]] = ('"', '"')
    """Opening and closing quote of a name; a closing quote inside the name is doubled."""
    _begin: ClassVar[str] = "BEGIN"
    _unique: ClassVar[str]
    """Query for the columns of a schema's unique indexes that have every row: table, index, whether
    it is the primary key, column, and whether that is never null. A column is null for an
    expression. The columns of an index come in its order."""

    def __init__(self) -> None:
        self._in_transaction = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close the connection; the server rolls back an open transaction."""

    @property
    @abstractmethod
    def closed(self) -> bool:
        """True if the connection was closed, or was found to be lost."""

    @abstractmethod
    def execute(self, sql: str, parameters: Sequence[Parameter] = ()) -> list[Row]:
        """Run one statement; return its rows, or an empty list if it returns none."""

    @abstractmethod
    def affect(self, sql: str, parameters: Sequence[Parameter] = ()) -> int:
        """Run one statement; return the number of rows it changed."""

    @abstractmethod
    def run_script(self, sql: str) -> None:
        """Run the statements of a DDL script, in order."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit at the end of the block; roll back if it raises. Suppress only `Rollback`."""
        if self._in_transaction:
            raise LabError("A transaction is open already on this connection.")
        self.execute(self._begin)
        self._in_transaction = True
        try:
            yield
        except Exception as error:
            if not self.closed:
                self.execute("ROLLBACK")
            if not isinstance(error, Rollback):
                raise
        except BaseException:
            # Interrupted in the middle of an answer, so only the server can still roll back.
            self.close()
            raise
        else:
            self.execute("COMMIT")
        finally:
            self._in_transaction = False

    @contextmanager
    def _atomic(self) -> Iterator[None]:
        """Use the open transaction, or begin one for this block."""
        if self._in_transaction:
            yield
        else:
            with self.transaction():
                yield

    @classmethod
    def quote(cls, identifier: str) -> str:
        """Return an identifier quoted for SQL."""
        return quoted(identifier, cls._quotes)

    def qualified(self, ref: TableRef) -> str:
        """Return a table's name with its schema, quoted for SQL."""
        return f"{self.quote(ref.schema)}.{self.quote(ref.name)}"

    def _names(self, names: Sequence[str]) -> str:
        return ", ".join(self.quote(name) for name in names)

    def _same(self, names: Sequence[str]) -> str:
        """Return the condition that rows `t` and `s` have the same values in these columns."""
        return " AND ".join(f"t.{self.quote(name)} = s.{self.quote(name)}" for name in names)

    def tables(self, schema: str) -> list[TableRef]:
        """Return the base tables of a schema, sorted by name."""
        rows = self.execute(
            "SELECT table_name FROM information_schema.tables"
            " WHERE table_schema = %s AND table_type = 'BASE TABLE' ORDER BY 1",
            (schema,),
        )
        return [TableRef(schema, name) for (name,) in rows]

    def keys_of_tables(self, schema: str) -> dict[TableRef, TableKeys]:
        """Return the keys of a schema's tables; a table without one may be left out."""
        found: dict[TableRef, TableKeys] = {}
        indexes: dict[tuple[str, object, bool], list[str | None]] = {}
        for name, index, is_primary, column, is_set in self.execute(self._unique, (schema,)):
            columns = indexes.setdefault((name, index, bool(is_primary)), [])
            columns.append(column if is_set else None)
        for (name, _, is_primary), columns in indexes.items():
            key = tuple(column for column in columns if column is not None)
            if len(key) == len(columns):
                ref = TableRef(schema, name)
                known = found.get(ref, TableKeys())
                found[ref] = TableKeys(key if is_primary else known.primary, (*known.unique, key))
        return found

    @abstractmethod
    def describe(self, ref: TableRef) -> SourceTable:
        """Return the table's columns, types and key; raise `LabError` if there is no such table."""

    @abstractmethod
    def comments(self, ref: TableRef) -> dict[str, str]:
        """Return the comments on the table's columns, by name; empty if there is no such table."""

    def count(self, ref: TableRef) -> int:
        """Return the number of rows."""
        ((rows,),) = self.execute(f"SELECT count(*) FROM {self.qualified(ref)}")  # noqa: S608
        return int(rows)

    @abstractmethod
    def read(self, ref: TableRef) -> pa.Table:
        """Return all rows of one consistent snapshot, unordered; schema `describe(ref).arrow`."""

    @abstractmethod
    def sample(self, table: SourceTable, count: int) -> list[tuple[str, ...]]:
        """Return the first rows by key, each value as a literal of this engine's SQL."""

    def _first(self, table: SourceTable, fields: Sequence[str], count: int) -> str:
        """Return the query for `fields` of the first rows by key."""
        order = f" ORDER BY {self._names(table.keys)}" if table.keys else ""
        return f"SELECT {', '.join(fields)} FROM {self.qualified(table.ref)}{order} LIMIT {count:d}"  # noqa: S608

    @abstractmethod
    def insert(self, ref: TableRef, rows: pa.Table) -> None:
        """Insert rows in bulk: all of them or, on an error, none."""

    @abstractmethod
    def upsert(self, ref: TableRef, rows: pa.Table) -> None:
        """Insert rows, or update those whose primary key exists: all of them or none."""

    @abstractmethod
    def delete(self, ref: TableRef, keys: pa.Table) -> None:
        """Delete the rows with these primary keys: all of them or, on an error, none."""

    def schemas(self) -> list[str]:
        """Return the names of all schemas."""
        return [
            name for (name,) in self.execute("SELECT schema_name FROM information_schema.schemata")
        ]

    @abstractmethod
    def capture(self, refs: Sequence[TableRef], publication: str) -> None:
        """Make the database record the changes of these tables, if it does not yet.

        PostgreSQL adds them to `publication`, SQL Server enables change data capture for them,
        and MySQL records all tables anyway.
        """

    @abstractmethod
    def captured(self, publication: str) -> set[TableRef] | None:
        """Return the tables whose changes are recorded; None if the engine records all anyway."""

    @abstractmethod
    def release(self, ref: TableRef, publication: str) -> None:
        """Undo `capture` of a table, which may no longer exist. It is safe to repeat."""

    @abstractmethod
    def let_read(self, user: str, schema: str) -> None:
        """Let the connector's user read a schema, if the schema's owner must grant that right."""

    @abstractmethod
    def let_signal(self, user: str, ref: TableRef) -> None:
        """Let the connector's user write to a signal table, if the owner must grant that right."""


def quoted(identifier: str, quotes: tuple[str, str]) -> str:
    """Return an identifier in `quotes`; closing quotes inside it are doubled."""
    before, behind = quotes
    return f"{before}{identifier.replace(behind, behind * 2)}{behind}"
