"""Where the rows of a result are in its file, so that a page is read without the rest."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["BLOCK_BYTES", "PAGE_ROWS", "Layout"]

PAGE_ROWS = 1000
"""A page of GetQueryResults has no more."""
BLOCK_BYTES = 256 * 1024
"""A block of a file has as many bytes or more, unless it is the last."""


@dataclass(frozen=True)
class Layout:
    """Blocks of whole rows, in the order of the file."""

    rows: int = 0
    """All rows; the names of columns are none."""
    size: int = 0
    """Bytes of the file."""
    blocks: tuple[tuple[int, int], ...] = ()
    """The number of each block's first row, and where in the file it begins."""

    def block_of(self, row: int) -> int:
        """The number of the block that has a row."""
        return bisect_right(self.blocks, row, key=lambda block: block[0]) - 1

    def first_row(self, block: int) -> int:
        return self.blocks[block][0]

    def place(self, block: int) -> tuple[int, int]:
        """Where a block begins and ends in the file, in bytes."""
        following = self.blocks[block + 1][1] if block + 1 < len(self.blocks) else self.size
        return self.blocks[block][1], following

    def as_json(self) -> dict[str, Any]:
        return {"Rows": self.rows, "Size": self.size, "Blocks": self.blocks}

    @staticmethod
    def of_json(told: Mapping[str, Any]) -> Layout:
        """The way back. Raises KeyError, TypeError or ValueError for other JSON."""
        blocks = tuple((int(row), int(place)) for row, place in told["Blocks"])
        return Layout(int(told["Rows"]), int(told["Size"]), blocks)
