"""Names of the catalog for completion, kept for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from labctl.errors import LabError
from labctl.lab.catalog.athena_tables import Table, Tables

__all__ = ["Names"]

_FRESH_SECONDS = 60.0

T = TypeVar("T")


class Names:
    """Databases, tables and columns. Where the API does not answer there are none, and no error.

    Used by the thread that completes and by the one that runs statements.
    """

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._lock = threading.Lock()
        self._kept: dict[str, tuple[float, Mapping[str, Any]]] = {}

    def databases(self) -> list[str]:
        return list(self._ask("", lambda: {one.name: one for one in self._tables.databases()}))

    def tables(self, database: str) -> Mapping[str, Table]:
        """Tables and views by name."""
        return self._ask(database, lambda: {one.name: one for one in self._tables.tables(database)})

    def forget(self) -> None:
        """Ask again: something was made or dropped."""
        with self._lock:
            self._kept.clear()

    def _ask(self, key: str, ask: Callable[[], Mapping[str, T]]) -> Mapping[str, T]:
        with self._lock:
            at, found = self._kept.get(key, (float("-inf"), {}))
            if time.monotonic() - at < _FRESH_SECONDS:
                return found
            try:
                found = ask()
            except LabError:
                return {}
            self._kept[key] = (time.monotonic(), found)
            return found
