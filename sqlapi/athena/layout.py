"""The positions of a result's rows in its file, so that a page can be read without the rest."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["BLOCK_BYTES", "PAGE_ROWS", "Layout"]

PAGE_ROWS = 1000
"""Largest number of rows in a page of GetQueryResults."""
BLOCK_BYTES = 256 * 1024
"""Smallest number of bytes in a block of a file; the last block may be smaller."""


@dataclass(frozen=True)
class Layout:
    """Blocks of whole rows, in the order of the file."""

    rows: int = 0
    """Number of rows, without the header."""
    size: int = 0
    """Size of the file in bytes."""
    blocks: tuple[tuple[int, int], ...] = ()
    """First row and offset in the file of each block."""

    def block_of(self, row: int) -> int:
        """Return the number of the block that contains a row."""
        return bisect_right(self.blocks, row, key=lambda block: block[0]) - 1

    def first_row(self, block: int) -> int:
        return self.blocks[block][0]

    def place(self, block: int) -> tuple[int, int]:
        """Return the offsets in bytes at which a block begins and ends in the file."""
        following = self.blocks[block + 1][1] if block + 1 < len(self.blocks) else self.size
        return self.blocks[block][1], following

    def as_json(self) -> dict[str, Any]:
        return {"Rows": self.rows, "Size": self.size, "Blocks": self.blocks}

    @staticmethod
    def of_json(told: Mapping[str, Any]) -> Layout:
        """Parse a layout's JSON. Raises KeyError, TypeError or ValueError for other JSON."""
        blocks = tuple((int(row), int(place)) for row, place in told["Blocks"])
        return Layout(int(told["Rows"]), int(told["Size"]), blocks)
