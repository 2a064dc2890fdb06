"""Generated rows: keys and values of one table, chosen by its seed."""

from __future__ import annotations

import random
from collections.abc import Sequence

from labctl.conformance.cases import Cell, Column, Row, ValueClass

__all__ = ["STRUCTURED", "Rows"]

STRUCTURED = (ValueClass.NULL, ValueClass.DEFAULT, ValueClass.EXTREME, ValueClass.SPECIAL)
"""Classes of values that each table has in its first rows."""
_HUGE = 0.02
"""Share of values that are a megabyte long, in columns that have such values."""


class Rows:
    """The rows of a table, in the order in which they are generated."""

    def __init__(
        self,
        chance: random.Random,
        keys: Sequence[Column],
        columns: Sequence[Column],
        *,
        beyond: bool,
        pairs: Sequence[tuple[str, str]],
    ) -> None:
        self._chance = chance
        self._keys = keys
        self.columns = [*columns]
        """Columns that have existed so far."""
        self._beyond = beyond
        self._pairs = pairs
        """Literals for a key of two texts."""
        self._next = 0

    @property
    def changeable(self) -> list[Column]:
        """Columns that an UPDATE may set without moving the row."""
        return [c for c in self.columns if c not in self._keys and c.generated is None]

    def row(self, wanted: ValueClass | None, base: int = 0) -> tuple[int, Row] | None:
        """Return a new row with its number; None if the key has no further value.

        `base` is added to the column `id`.
        """
        key = self.key(self._next, base)
        if key is None:
            return None
        number = self._next
        self._next += 1
        return number, {**key, **{c.name: self.cell(c, wanted) for c in self.changeable}}

    def next_key(self, base: int = 0) -> Row | None:
        """Return a key that no row had; None if there is none."""
        if (key := self.key(self._next, base)) is not None:
            self._next += 1
        return key

    def key(self, number: int, base: int = 0) -> Row | None:
        """Return the key of the row with this number."""
        names = [column.name for column in self._keys]
        if "id" not in names and len(names) == 2:
            if number >= len(self._pairs):
                return None
            literals = self._pairs[number]
            return {
                name: Cell(ValueClass.EXTREME, literal)
                for name, literal in zip(names, literals, strict=True)
            }
        cells = {}
        for column in self._keys:
            if column.name == "id":
                cells["id"] = Cell(ValueClass.EXTREME, str(base + number))
                continue
            values = column.kind.keys
            if len(names) == 1 and number >= len(values):
                return None
            cells[column.name] = Cell(ValueClass.EXTREME, values[number % len(values)])
        return cells

    def cell(self, column: Column, wanted: ValueClass | None) -> Cell:
        """Return a value of a class, or of a random one; a typical one if the class has none."""
        kind, chance = column.kind, self._chance
        of_class = {
            ValueClass.NULL: ("NULL",) if column.nullable else (),
            ValueClass.DEFAULT: ("DEFAULT",) if column.default or column.nullable else (),
            ValueClass.EXTREME: kind.extreme,
            ValueClass.SPECIAL: kind.special,
            ValueClass.BEYOND: kind.beyond,
        }
        if wanted is None:
            wanted = chance.choice(STRUCTURED)
            if self._beyond and kind.beyond and chance.random() < 0.5:
                wanted = ValueClass.BEYOND
        if wanted is ValueClass.EXTREME and kind.huge is not None and chance.random() < _HUGE:
            return Cell(wanted, kind.huge)
        if not of_class[wanted]:
            return Cell(ValueClass.DEFAULT, kind.typical)
        literal = chance.choice(of_class[wanted])
        if wanted is ValueClass.DEFAULT and not column.default:
            return Cell(ValueClass.NULL, "NULL")
        return Cell(wanted, literal)
