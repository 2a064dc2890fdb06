"""Calling a function for the tables of each engine, all engines in parallel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Protocol, TypeVar

from labctl.engine_names import EngineName

__all__ = ["for_each_engine"]


class _OfEngine(Protocol):
    @property
    def engine(self) -> EngineName: ...


_T = TypeVar("_T", bound=_OfEngine)


def for_each_engine(tables: Iterable[_T], act: Callable[[_T], None]) -> None:
    """Call `act` for each table, in order, with one thread per engine.

    Only one thread at a time uses a connection. The threads take no further table after an error
    or an interrupt.
    """
    groups: dict[EngineName, list[_T]] = {}
    for table in tables:
        groups.setdefault(table.engine, []).append(table)
    if not groups:
        return
    stopping = threading.Event()

    def run(group: list[_T]) -> None:
        for table in group:
            if stopping.is_set():
                return
            act(table)

    with ThreadPoolExecutor(len(groups)) as pool:
        running = [pool.submit(run, group) for group in groups.values()]
        try:
            wait(running, return_when=FIRST_EXCEPTION)
        finally:
            stopping.set()
    for one in running:
        one.result()
