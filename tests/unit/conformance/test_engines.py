"""Working with the tables of each engine at once."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

import pytest

from labctl.conformance.per_engine import for_each_engine
from labctl.engine_names import EngineName


@dataclass(frozen=True)
class Table:
    engine: EngineName
    number: int


def test_each_engine_has_a_thread_that_takes_its_tables_in_order() -> None:
    tables = [Table(engine, n) for n in range(4) for engine in ("postgres", "mysql")]
    seen: dict[EngineName, list[tuple[int, int]]] = {"postgres": [], "mysql": []}
    both = threading.Barrier(2, timeout=10)

    def act(table: Table) -> None:
        if table.number == 0:
            both.wait()
        seen[table.engine].append((threading.get_ident(), table.number))

    for_each_engine(tables, act)
    for engine in seen.values():
        assert [number for _, number in engine] == [0, 1, 2, 3]
        assert len({thread for thread, _ in engine}) == 1


def test_no_table_is_begun_after_an_error() -> None:
    begun: list[int] = []
    failing = threading.Event()

    def act(table: Table) -> None:
        if table.engine == "mysql":
            failing.set()
            raise ValueError("mysql fails")
        begun.append(table.number)
        assert failing.wait(10)
        time.sleep(0.1)

    tables = [*(Table("postgres", n) for n in range(100)), Table("mysql", 0)]
    with pytest.raises(ValueError, match="mysql fails"):
        for_each_engine(tables, act)
    assert len(begun) < len(tables) / 2


def test_nothing_is_done_without_tables() -> None:
    for_each_engine([], lambda _: pytest.fail("there is none"))
