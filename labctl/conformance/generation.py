"""Generating a table, its rows and its history from a seed: the same seed gives the same table."""

# ruff: noqa: S311 - chance here is no secret

from __future__ import annotations

import random
from collections.abc import Iterator

from labctl.conformance.cases import Case, Cell, Change, Column, Kind, Row, ValueClass
from labctl.conformance.odd_names import COLUMN_NAMES, TABLE_NAMES
from labctl.engine_names import EngineName
from labctl.sources import ENGINES

__all__ = ["WIDTH", "generate"]

WIDTH = 4
"""Number of columns whose types rotate with the seed, so that a run of seeds has every type."""
_ODD_NAMES = 0.12
_BEYOND = 0.12
"""Share of tables with values that silver cannot hold."""
_DDL = 0.15
_TRUNCATE = 0.05
_KEYLESS = 0.03
_COMPUTED = 0.2
_MOST_CHANGES = 12
_STRUCTURED = (ValueClass.NULL, ValueClass.DEFAULT, ValueClass.EXTREME, ValueClass.SPECIAL)


def generate(engine: EngineName, seed: int, *, faults: bool = False) -> Case:
    """Return the table of a seed. With `faults`, its history kills a part of the lab."""
    return _Generator(engine, seed).case(faults=faults)


class _Generator:
    def __init__(self, engine: EngineName, seed: int) -> None:
        self._engine = engine
        self._traits = ENGINES[engine].conformance()
        self._seed = seed
        self._chance = random.Random(f"{engine}:{seed}")
        self._beyond = self._chance.random() < _BEYOND
        self._odd = self._chance.random() < _ODD_NAMES
        self._next = 0
        self._made: list[Column] = []

    def case(self, *, faults: bool) -> Case:
        chance = self._chance
        kinds = self._kinds()
        keys = self._keys()
        columns = [*keys, *map(self._column, range(len(kinds)), kinds)]
        doubled = self._traits.doubled
        if keys[0].name == "id" and chance.random() < _COMPUTED and doubled is not None:
            columns.append(Column("computed", keys[0].kind, generated=doubled))
        self._columns = columns
        self._key_columns = keys
        loaded = [self._row(_STRUCTURED[i] if i < len(_STRUCTURED) else None) for i in range(6)]
        rows = tuple(row for row in loaded if row is not None)
        name = chance.choice(TABLE_NAMES) if self._odd and chance.random() < 0.5 else "{0}"
        keyless = chance.random() < _KEYLESS
        history = tuple(self._history([number for number, _ in rows], faults=faults))
        return Case(
            self._engine,
            self._seed,
            name,
            tuple(columns),
            () if keyless else tuple(column.name for column in keys),
            rows,
            history,
        )

    def _kinds(self) -> list[Kind]:
        """Return the types whose turn it is, and a random one."""
        every = list(self._traits.column_types)
        random.Random(self._engine).shuffle(every)
        start = self._seed * WIDTH
        turn = [every[(start + place) % len(every)] for place in range(WIDTH)]
        return [*turn, self._chance.choice(every)]

    def _keys(self) -> list[Column]:
        """Return the key columns: a number, a column of another type, or both."""
        chance = self._chance
        number = Column("id", _NUMBER[self._engine], nullable=False)
        keyable = [kind for kind in self._traits.column_types if kind.keys]
        choice = chance.random()
        if choice < 0.6:
            return [number]
        other = Column("k", chance.choice(keyable), nullable=False)
        if choice < 0.8:
            return [other]
        return [number, other] if chance.random() < 0.5 else [other, number]

    def _column(self, place: int, kind: Kind) -> Column:
        chance = self._chance
        name = f"c{place}"
        if self._odd and chance.random() < 0.4:
            name = chance.choice(COLUMN_NAMES)
            name = f"{name}{place}" if chance.random() < 0.5 else name
            if not self._traits.wide_characters:
                name = name.replace("😀", "☺")
        default = kind.has_default and chance.random() < 0.5
        nullable = chance.random() < 0.75
        if self._odd and place == 1 and self._traits.tells_case and chance.random() < 0.3:
            name = "C0"  # the twin of c0
        if any(c.name == name for c in self._made):
            name = f"c{place}"
        column = Column(name, kind, nullable=nullable, default=default)
        self._made = [*self._made, column]
        return column

    def _row(self, wanted: ValueClass | None) -> tuple[int, Row] | None:
        """Return a new row with its number; None if the key has no further value."""
        key = self._key(self._next)
        if key is None:
            return None
        number = self._next
        self._next += 1
        cells = {
            column.name: self._cell(column, wanted)
            for column in self._columns
            if column not in self._key_columns and column.generated is None
        }
        return number, {**key, **cells}

    def _key(self, number: int) -> Row | None:
        cells = {}
        single = len(self._key_columns) == 1
        for column in self._key_columns:
            if column.name == "id":
                cells["id"] = Cell(ValueClass.EXTREME, str(number))
                continue
            if single and number >= len(column.kind.keys):
                return None
            values = column.kind.keys
            cells[column.name] = Cell(ValueClass.EXTREME, values[number % len(values)])
        return cells

    def _cell(self, column: Column, wanted: ValueClass | None) -> Cell:
        kind, chance = column.kind, self._chance
        of_class = {
            ValueClass.NULL: ("NULL",) if column.nullable else (),
            ValueClass.DEFAULT: ("DEFAULT",) if column.default or column.nullable else (),
            ValueClass.EXTREME: kind.extreme,
            ValueClass.SPECIAL: kind.special,
            ValueClass.BEYOND: kind.beyond,
        }
        if wanted is None:
            wanted = chance.choice(_STRUCTURED)
            if self._beyond and kind.beyond and chance.random() < 0.5:
                wanted = ValueClass.BEYOND
        if not of_class[wanted]:
            return Cell(ValueClass.DEFAULT, kind.typical)
        literal = chance.choice(of_class[wanted])
        if wanted is ValueClass.DEFAULT and not column.default:
            return Cell(ValueClass.NULL, "NULL")
        return Cell(wanted, literal)

    def _history(self, alive: list[int], *, faults: bool) -> Iterator[Change]:
        chance = self._chance
        alive = [*alive]
        ddl = self._traits.changes_columns and chance.random() < _DDL
        changes = chance.randint(4, _MOST_CHANGES)
        ddl_at = {chance.randrange(changes) for _ in range(chance.randint(1, 2))} if ddl else set()
        truncate_at = chance.randrange(changes) if chance.random() < _TRUNCATE else None
        fault_at = chance.randrange(changes) if faults else None
        for wanted in _STRUCTURED:
            if (row := self._row(wanted)) is not None:
                alive.append(row[0])
                yield Change("insert", row[0], row[1])
        for place in range(changes):
            if place == fault_at:
                yield Change("fault", text=chance.choice(("connect", "silver")))
            if place in ddl_at:
                yield self._ddl(place)
            elif place == truncate_at:
                alive.clear()
                yield Change("truncate")
            else:
                yield from self._change(alive)
        if max(ddl_at, default=-1) == changes - 1:
            # Silver has a new column only once a row is written after it.
            yield from self._one_more(alive)

    def _one_more(self, alive: list[int]) -> Iterator[Change]:
        if (row := self._row(None)) is not None:
            yield Change("insert", row[0], row[1])
        elif alive:
            cells = {column.name: self._cell(column, None) for column in self._changeable()}
            yield Change("update", alive[0], cells)

    def _change(self, alive: list[int]) -> Iterator[Change]:
        chance = self._chance
        what = chance.choices(("insert", "update", "rekey", "delete", "bulk"), (20, 50, 10, 15, 5))[
            0
        ]
        if what == "insert" or not alive:
            if (row := self._row(None)) is not None:
                alive.append(row[0])
                yield Change("insert", row[0], row[1])
        elif what == "bulk":
            for _ in range(20):
                if (row := self._row(None)) is not None:
                    alive.append(row[0])
                    yield Change("insert", row[0], row[1])
        elif what == "update":
            others = self._changeable()
            some = chance.sample(others, chance.randint(1, len(others)))
            cells = {column.name: self._cell(column, None) for column in some}
            yield Change("update", chance.choice(alive), cells)
        elif what == "rekey":
            if (key := self._key(self._next)) is not None:
                self._next += 1
                yield Change("rekey", chance.choice(alive), key)
        else:
            row_number = chance.choice(alive)
            alive.remove(row_number)
            yield Change("delete", row_number)

    def _changeable(self) -> list[Column]:
        return [c for c in self._columns if c not in self._key_columns and c.generated is None]

    def _ddl(self, place: int) -> Change:
        chance = self._chance
        what = chance.choice(("add", "add", "drop", "rename", "retype", "retype", "default"))
        others = self._changeable()
        column = chance.choice(others)
        if what == "add":
            kind = chance.choice(self._traits.column_types)
            default = kind.has_default and chance.random() < 0.5
            nullable = not default or chance.random() < 0.5
            added = Column(f"added{place}", kind, nullable=nullable, default=default)
            self._columns = [*self._columns, added]
            return Change("add", column=added)
        if what == "rename":
            return Change("rename", column=column, text=f"renamed{place}")
        types = [t for t in (column.kind.wider, column.kind.narrower, column.kind.other) if t]
        if what == "retype" and types:
            return Change("retype", column=column, text=chance.choice(types))
        if what == "drop" and len(others) > 1:
            return Change("drop", column=column)
        return Change("default", column=column, text=column.kind.typical)


_NUMBER = {
    name: next(
        kind for kind in engine.conformance().column_types if kind.declared in ("integer", "int")
    )
    for name, engine in ENGINES.items()
}
"""Type of the plain key, by engine."""
