"""Generated histories: changes of a table's rows, its columns and its partitions."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from labctl.conformance.cases import Change, Column, ValueClass
from labctl.conformance.generated_rows import STRUCTURED, Rows
from labctl.conformance.traits import Traits

__all__ = ["ADDED_PARTITION", "ATTACHED_PARTITION", "History"]

ADDED_PARTITION = 1000
"""Lowest `id` of the partition that a history adds."""
ATTACHED_PARTITION = 2000
"""Lowest `id` of the partition that a history attaches."""
_DDL = 0.15
_SWAP = 0.06
_AWAY = 0.06
_TRUNCATE = 0.05
_MOST_CHANGES = 12
_KINDS = ("insert", "update", "rekey", "delete", "bulk")
_WEIGHTS = (20, 50, 10, 15, 5)
_BULK = 20


class History:
    """The history of one table."""

    def __init__(self, chance: random.Random, traits: Traits, rows: Rows) -> None:
        self._chance = chance
        self._traits = traits
        self._rows = rows
        self._alive: list[int] = []
        self._altered: set[str] = set()

    def steps(
        self, loaded: Sequence[int], *, faults: bool, keyed: bool, parted: bool
    ) -> Iterator[Change]:
        """Yield the steps. `loaded` has the numbers of the rows that exist before."""
        chance, traits = self._chance, self._traits
        self._alive = [*loaded]
        changes = chance.randint(4, _MOST_CHANGES)
        ddl_at = self._places(changes) if traits.alterations and chance.random() < _DDL else set()
        truncate_at = chance.randrange(changes) if chance.random() < _TRUNCATE else None
        swaps = bool(traits.swap) and keyed and not parted and chance.random() < _SWAP
        swap_at = chance.randrange(changes) if swaps else None
        goes_away = bool(traits.rename) and keyed and chance.random() < _AWAY
        away_at = chance.randrange(changes) if goes_away else None
        part_at = self._places(changes) if parted else set()
        fault_at = chance.randrange(changes) if faults else None
        # A table has two capture instances at most, so one follows all changes of its columns.
        recapture_after = chance.randint(0, 2) if traits.recapture is not None and ddl_at else None
        yield from self._first_rows()
        for place in range(changes):
            if place == fault_at:
                yield Change("fault", text=chance.choice(("connect", "silver")))
            if place in ddl_at:
                yield self._ddl(place)
            elif place == truncate_at:
                self._alive.clear()
                yield Change("truncate")
            elif place == swap_at:
                yield from self._swap()
            elif place == away_at:
                yield from self._insert(what="away")
            elif place in part_at:
                yield from self._partitions(is_last=place == max(part_at))
            else:
                yield from self._change()
            if recapture_after is not None and place == max(ddl_at):
                for _ in range(recapture_after):
                    yield from self._change()
                yield Change("recapture")
        if max(ddl_at, default=-1) == changes - 1:
            # Silver has a new column only once a row is written after it.
            yield from self._one_more()

    def _places(self, changes: int) -> set[int]:
        return {self._chance.randrange(changes) for _ in range(self._chance.randint(1, 2))}

    def _first_rows(self) -> Iterator[Change]:
        for wanted in STRUCTURED:
            yield from self._insert(wanted)

    def _insert(
        self, wanted: ValueClass | None = None, base: int = 0, what: str = "insert"
    ) -> Iterator[Change]:
        if (row := self._rows.row(wanted, base)) is not None:
            self._alive.append(row[0])
            yield Change(what, row[0], row[1])

    def _one_more(self) -> Iterator[Change]:
        inserted = [*self._insert()]
        yield from inserted
        if not inserted and self._alive:
            cells = {column.name: self._rows.cell(column, None) for column in self._rows.changeable}
            yield Change("update", self._alive[0], cells)

    def _change(self) -> Iterator[Change]:
        chance = self._chance
        what = chance.choices(_KINDS, _WEIGHTS)[0]
        if what == "insert" or not self._alive:
            yield from self._insert()
        elif what == "bulk":
            for _ in range(_BULK):
                yield from self._insert()
        elif what == "update":
            others = self._rows.changeable
            some = chance.sample(others, chance.randint(1, len(others)))
            cells = {column.name: self._rows.cell(column, None) for column in some}
            yield Change("update", chance.choice(self._alive), cells)
        elif what == "rekey":
            yield from self._rekey()
        else:
            number = chance.choice(self._alive)
            self._alive.remove(number)
            yield Change("delete", number)

    def _rekey(self, base: int = 0) -> Iterator[Change]:
        if self._alive and (key := self._rows.next_key(base)) is not None:
            yield Change("rekey", self._chance.choice(self._alive), key)

    def _swap(self) -> Iterator[Change]:
        """Put a table with the same rows in the place of this one.

        Until the connector has been told, only rows are written: a backfill would not remove a row
        that is deleted meanwhile.
        """
        yield Change("swap")
        if self._chance.random() < 0.5:
            yield from self._insert()
        yield Change("apply")

    def _partitions(self, *, is_last: bool) -> Iterator[Change]:
        """Change the partitions. Each history adds one at most, and attaches one at most."""
        what = self._chance.choice(("add", "attach", "detach")) if is_last else "detach"
        if what == "add":
            yield Change("partition")
            yield from self._insert(base=ADDED_PARTITION)
            if self._chance.random() < 0.5:
                yield Change("delete", self._alive.pop())
                yield Change("drop_partition")
            else:
                yield from self._rekey(ADDED_PARTITION)
        elif what == "attach":
            yield from self._insert(base=ATTACHED_PARTITION, what="attach")
        else:
            yield Change("detach")
            yield from self._rekey()

    def _ddl(self, place: int) -> Change:
        chance, traits = self._chance, self._traits
        choices = ("add", "add", "drop", "rename", "retype", "retype", "default")
        what = chance.choice([one for one in choices if one in traits.alterations])
        others = self._rows.changeable
        column = chance.choice(others)
        is_fixed = column.default and not traits.alters_defaults
        types = [t for t in (column.kind.wider, column.kind.narrower, column.kind.other) if t]
        if what == "rename":
            return Change("rename", column=column, text=f"renamed{place}")
        if what == "retype" and types and not is_fixed and column.name not in self._altered:
            self._altered.add(column.name)
            return Change("retype", column=column, text=chance.choice(types))
        if what == "drop" and len(others) > 1 and not is_fixed:
            return Change("drop", column=column)
        if "default" not in traits.alterations or what == "add":
            return self._add(place)
        return Change("default", column=column, text=column.kind.typical)

    def _add(self, place: int) -> Change:
        chance = self._chance
        kind = chance.choice(self._traits.column_types)
        default = kind.has_default and chance.random() < 0.5
        nullable = not default or kind.only_nullable or chance.random() < 0.5
        added = Column(f"added{place}", kind, nullable=nullable, default=default)
        self._rows.columns.append(added)
        return Change("add", column=added)
