"""Which source table belongs to which silver table, and how both are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pyarrow as pa

from labctl.config.endpoints import Endpoints
from labctl.errors import LabError
from labctl.sources import Source, TableRef, connect
from labctl.verify.run import Pair

__all__ = ["Captured", "open_pairs"]


@dataclass(frozen=True)
class Captured:
    """A table that is captured: where it comes from and where it goes."""

    engine: str
    """`postgres`, `mysql`, …"""
    ref: TableRef
    silver: str
    """Name of the silver table."""


@contextmanager
def open_pairs(
    endpoints: Endpoints,
    tables: Sequence[Captured],
    read_silver: Callable[[str], pa.Table | None],
    *,
    in_flight: Callable[[str], int | None] = lambda _: None,
) -> Iterator[list[Pair]]:
    """Pairs for `verify`, over one connection per source database for as long as the block runs.

    `read_silver` and `in_flight` are given the silver table's name; see `Pair` for what they
    return. Raises `LabError` when a source table does not exist or has no primary key.
    """
    with ExitStack() as connections:
        engines = sorted({table.engine for table in tables})
        sources = {e: connections.enter_context(connect(endpoints, e)) for e in engines}
        yield [_pair(sources[t.engine], t, read_silver, in_flight) for t in tables]


def _pair(
    source: Source,
    table: Captured,
    read_silver: Callable[[str], pa.Table | None],
    in_flight: Callable[[str], int | None],
) -> Pair:
    keys = source.describe(table.ref).keys
    if not keys:
        raise LabError(
            f"{source.engine} {table.ref} has no primary key, so its rows cannot be told apart.",
            hint="give it a primary key",
        )
    return Pair(
        source_name=f"{table.engine} {table.ref}",
        silver_name=table.silver,
        keys=keys,
        read_source=lambda: source.read(table.ref),
        read_silver=lambda: read_silver(table.silver),
        in_flight=lambda: in_flight(table.silver),
    )
