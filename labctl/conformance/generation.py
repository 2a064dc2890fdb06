"""Generating a table, its rows and its history from a seed: the same seed gives the same table."""

# ruff: noqa: S311 - chance here is no secret

from __future__ import annotations

import random

from labctl.conformance.cases import Case, Column, Kind
from labctl.conformance.generated_rows import STRUCTURED, Rows
from labctl.conformance.histories import History
from labctl.conformance.odd_names import COLUMN_NAMES, LONGEST, TABLE_NAMES
from labctl.engine_names import EngineName
from labctl.sources import ENGINES

__all__ = ["WIDTH", "generate"]

WIDTH = 4
"""Number of columns whose types rotate with the seed, so that a run of seeds has every type."""
_ODD_NAMES = 0.12
_BEYOND = 0.12
"""Share of tables with values that silver cannot hold."""
_KEYLESS = 0.03
_GENERATED = 0.25
_PARTED = 0.12
_LOADED = 6


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
        self._made: list[Column] = []

    def case(self, *, faults: bool) -> Case:
        chance, traits = self._chance, self._traits
        kinds = self._kinds()
        keys = self._keys()
        columns = [*keys, *map(self._column, range(len(kinds)), kinds)]
        has_id = any(key.name == "id" for key in keys)
        if has_id and traits.generated and chance.random() < _GENERATED:
            clause = chance.choice(traits.generated)
            columns.append(Column("computed", _NUMBER[self._engine], generated=clause))
        rows = Rows(chance, keys, columns, beyond=self._beyond, pairs=traits.text_pairs)
        loaded = [rows.row(STRUCTURED[i] if i < len(STRUCTURED) else None) for i in range(_LOADED)]
        found = tuple(row for row in loaded if row is not None)
        name = chance.choice(TABLE_NAMES) if self._odd and chance.random() < 0.5 else "{0}"
        keyed = chance.random() >= _KEYLESS
        parted = keyed and has_id and traits.partitioning is not None and chance.random() < _PARTED
        history = History(chance, traits, rows)
        steps = history.steps([n for n, _ in found], faults=faults, keyed=keyed, parted=parted)
        return Case(
            self._engine,
            self._seed,
            name,
            tuple(columns),
            tuple(column.name for column in keys) if keyed else (),
            found,
            tuple(steps),
            parted=parted,
        )

    def _kinds(self) -> list[Kind]:
        """Return the types whose turn it is, and a random one."""
        every = list(self._traits.column_types)
        random.Random(self._engine).shuffle(every)
        start = self._seed * WIDTH
        turn = [every[(start + place) % len(every)] for place in range(WIDTH)]
        return [*turn, self._chance.choice(every)]

    def _keys(self) -> list[Column]:
        """Return the key columns: a number, a column of another type, both, or two texts."""
        chance = self._chance
        number = Column("id", _NUMBER[self._engine], nullable=False)
        keyable = [kind for kind in self._traits.column_types if kind.keys]
        choice = chance.random()
        if choice < 0.55:
            return [number]
        other = Column("k", chance.choice(keyable), nullable=False)
        if choice < 0.75:
            return [other]
        if choice < 0.85:
            text = next(k for k in keyable if k.declared == self._traits.text_key)
            return [Column(name, text, nullable=False) for name in ("k", "l")]
        return [number, other] if chance.random() < 0.5 else [other, number]

    def _column(self, place: int, kind: Kind) -> Column:
        chance = self._chance
        name = f"c{place}"
        if self._odd and chance.random() < 0.4:
            name = chance.choice(COLUMN_NAMES)
            if name == LONGEST:
                name = f"c{place}".ljust(self._traits.longest_column, "x")
            elif chance.random() < 0.5:
                name = f"{name}{place}"
            if not self._traits.wide_characters:
                name = name.replace("😀", "☺")
        default = kind.has_default and chance.random() < 0.5
        nullable = kind.only_nullable or chance.random() < 0.75
        if self._odd and place == 1 and self._traits.tells_case and chance.random() < 0.3:
            name = "C0"  # the twin of c0
        if any(c.name == name for c in self._made):
            name = f"c{place}"
        column = Column(name, kind, nullable=nullable, default=default)
        self._made = [*self._made, column]
        return column


_NUMBER = {
    name: next(
        kind for kind in engine.conformance().column_types if kind.declared in ("integer", "int")
    )
    for name, engine in ENGINES.items()
}
"""Type of the plain key, by engine."""
