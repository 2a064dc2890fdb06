"""Batches of items for AWS requests that limit their number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

__all__ = ["batches"]

T = TypeVar("T")


def batches(items: Sequence[T], size: int) -> Iterator[list[T]]:
    """Yield `items` in order, `size` at a time."""
    for start in range(0, len(items), size):
        yield list(items[start : start + size])
