"""The SQL of a generated table: DDL, rows, and each step of its history."""

# ruff: noqa: S608 - names are quoted, and values are literals chosen by hand

from __future__ import annotations

import zlib
from collections.abc import Collection, Iterator

from labctl.conformance.cases import Case, Change, Column, Row
from labctl.conformance.histories import ADDED_PARTITION, ATTACHED_PARTITION
from labctl.sources import ENGINES, TableRef
from labctl.sources.base import quoted

__all__ = ["Script", "table_name"]

_PARTS = (("MINVALUE", 4), (4, 8), (8, ADDED_PARTITION))
"""Partitions that exist from the beginning: from an `id`, up to another."""
_DETACHED = 1
"""Place in `_PARTS` of the partition that is detached and attached."""
_ROWS = ("insert", "update", "rekey", "delete", "truncate")


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
        self._ref = ref
        self._table = self._qualified(ref.name)
        self._beside = f"p{zlib.crc32(ref.name.encode()):08x}"
        """Beginning of the names of the tables that belong to this one."""
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
        self.unseen: str | None = None
        """Step that is due because changes do not reach the connector: recapture or apply."""

    def seen_once(self, left_out: Collection[str]) -> list[str]:
        """Return the current columns that only `labctl verify` can compare.

        `left_out` are those that it names as not captured.
        """
        forms = {now: self.forms[name] for name, now in self.names.items() if now not in left_out}
        keys = [self.names[key] for key in self.case.keys]
        if any(forms.get(key) is None for key in keys):
            return [*forms]
        return [name for name, form in forms.items() if form is None]

    def _quote(self, name: str) -> str:
        return quoted(name, self._traits.quotes)

    def _qualified(self, name: str) -> str:
        return f"{self._quote(self._ref.schema)}.{self._quote(name)}"

    def creates(self) -> Iterator[str]:
        """Yield the statements that create the table, with its partitions."""
        yield self.create()
        if self.case.parted and (partitioning := self._traits.partitioning):
            for place, (low, high) in enumerate(_PARTS):
                yield partitioning.add.format(
                    table=self._table, part=self._part(place), low=low, high=high
                )

    def _part(self, place: int) -> str:
        return self._qualified(f"{self._beside}_{place}")

    def create(self) -> str:
        """Return the CREATE TABLE statement."""
        lines = [self._declared(column) for column in self.case.columns]
        if self.case.keys:
            lines.append(f"PRIMARY KEY ({', '.join(map(self._quote, self.case.keys))})")
        created = f"CREATE TABLE {self._table} ({', '.join(lines)})"
        if self.case.parted and (partitioning := self._traits.partitioning):
            created += f" {partitioning.clause.format(key=self._quote('id'))}"
        return created

    def drops(self) -> Iterator[str]:
        """Yield the DROP TABLE statements of the table, and of those that have had its name."""
        yield self.drop()
        steps = {change.what for change in self.case.history}
        if "swap" in steps:
            yield f"DROP TABLE {self._qualified(f'{self._beside}_old')}"
        if "away" in steps:
            # It is there only if the table did not get its name back.
            yield f"DROP TABLE IF EXISTS {self._qualified(f'{self._beside}_away')}"

    def drop(self) -> str:
        """Return the DROP TABLE statement."""
        return f"DROP TABLE {self._table}"

    def load(self) -> Iterator[str]:
        """Yield an INSERT for each row that exists before capture."""
        for number, row in self.case.rows:
            yield self._insert(number, row)

    def statements(self, change: Change) -> list[str]:
        """Return the statements of one step; none if its row or column does not exist."""
        if change.what in _ROWS and self.unseen is not None:
            self.needs_backfill = True
        match change.what:
            case "swap":
                return self._swap()
            case "away":
                return self._away(change)
            case "partition" | "attach" | "detach" | "drop_partition":
                return self._partition(change)
            case "recapture" | "apply" if self.unseen == change.what:
                self.unseen = None
                recapture = self._traits.recapture if change.what == "recapture" else None
                return [recapture(self._ref)] if recapture is not None else []
            case "recapture" | "apply" | "fault":
                return []
        statement = self.change(change)
        return [] if statement is None else [statement]

    def change(self, change: Change) -> str | None:
        """Return the statement of a step that has one; None if its row or column does not exist."""
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
        if column.generated is not None:
            return f"{self._quote(column.name)} {column.generated}"
        parts = [self._quote(column.name), column.kind.declared]
        if column.default:
            parts.append(f"DEFAULT {column.kind.typical}")
        if column.nullable and self._traits.null_is_said:
            parts.append("NULL")
        if not column.nullable:
            parts.append("NOT NULL")
        return " ".join(parts)

    def _swap(self) -> list[str]:
        if self._traits.swap_needs_apply:
            self.unseen = "apply"
        stored = [name for name in self.names if self._columns[name].generated is None]
        names = {
            "schema": self._quote(self._ref.schema),
            "table": self._quote(self._ref.name),
            "new": self._quote(f"{self._beside}_new"),
            "old": self._quote(f"{self._beside}_old"),
            "columns": ", ".join(self._quote(self.names[name]) for name in stored),
        }
        return [statement.format(**names) for statement in self._traits.swap]

    def _away(self, change: Change) -> list[str]:
        # A row that is written under another name is in the topic of that name.
        self.needs_backfill = True
        schema, here = self._quote(self._ref.schema), self._quote(self._ref.name)
        away = self._quote(f"{self._beside}_away")
        rename = self._traits.rename
        return [
            rename.format(schema=schema, table=here, new=away),
            self._insert(change.row or 0, change.cells, into=f"{schema}.{away}"),
            rename.format(schema=schema, table=away, new=here),
        ]

    def _partition(self, change: Change) -> list[str]:
        partitioning = self._traits.partitioning
        if partitioning is None or not self.case.parted:
            return []
        added, attached = len(_PARTS), len(_PARTS) + 1
        if change.what == "partition":
            names = {"table": self._table, "part": self._part(added)}
            return [partitioning.add.format(**names, low=ADDED_PARTITION, high=ATTACHED_PARTITION)]
        if change.what == "drop_partition":
            return [partitioning.drop.format(part=self._part(added))]
        if change.what == "attach":
            self.needs_backfill = True
            names = {"table": self._table, "part": self._part(attached)}
            bounds = {"low": ATTACHED_PARTITION, "high": 2 * ATTACHED_PARTITION}
            return [
                partitioning.like.format(**names),
                self._insert(change.row or 0, change.cells, into=names["part"]),
                partitioning.attach.format(**names, **bounds),
            ]
        low, high = _PARTS[_DETACHED]
        names = {"table": self._table, "part": self._part(_DETACHED)}
        return [
            partitioning.detach.format(**names),
            partitioning.attach.format(**names, low=low, high=high),
        ]

    def _insert(self, number: int, row: Row, into: str = "") -> str:
        there = {
            name: cell.literal
            for name, cell in row.items()
            if name in self.names and cell.literal != "DEFAULT"
        }
        self._where[number] = {key: row[key] for key in self.case.keys if key in row}
        names = ", ".join(self._quote(self.names[name]) for name in there)
        return f"INSERT INTO {into or self._table} ({names}) VALUES ({', '.join(there.values())})"

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
        if self._traits.recapture is not None:
            self.unseen = "recapture"
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
