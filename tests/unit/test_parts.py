"""Parts are fetched on a thread of its own; what has its own need not wait for a compiler."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import cast

import pytest

from labctl.artifacts import ArtifactStore, Progress, SilentProgress
from labctl.artifacts.job import CancelledError
from labctl.errors import LabError
from labctl.runtimes.native.parts import PartsBeingFetched, fetching_parts
from labctl.services.lab_services import SERVICES
from labctl.services.service import Service

QUICK, SLOW = "postgres", "minio"


class Store:
    """Has `postgres` as soon as it is asked, and `minio` once somebody says so."""

    def __init__(self, error: LabError | None = None) -> None:
        self.made = threading.Event()
        self.was_cancelled = False
        self._error = error
        self._there: set[str] = set()

    def missing(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if name not in self._there]

    def to_compile(self, names: Iterable[str]) -> list[str]:
        return self.missing(name for name in names if name == SLOW)

    def fetch(
        self, names: Iterable[str], *, progress: Progress, cancelled: threading.Event
    ) -> None:
        if self._error:
            raise self._error
        self._finish(QUICK, progress)
        while SLOW in names and not self.made.wait(0.01):
            if cancelled.is_set():
                self.was_cancelled = True
                raise CancelledError
        self._finish(SLOW, progress)

    def _finish(self, name: str, progress: Progress) -> None:
        self._there.add(name)
        progress.finish(name)


def services(*names: str) -> list[Service]:
    return [service for service in SERVICES if service.name in names]


def fetching(store: Store, *names: str) -> AbstractContextManager[PartsBeingFetched]:
    return fetching_parts(cast("ArtifactStore", store), services(*names), SilentProgress())


def test_what_is_compiled_is_waited_for_later() -> None:
    store = Store()
    with fetching(store, "postgres", "objectstore") as parts:
        assert parts.first() == services("postgres")
        assert store.missing([QUICK, SLOW]) == [SLOW]
        store.made.set()
        parts.rest()
        assert store.missing([QUICK, SLOW]) == []


def test_without_a_compiler_all_is_there_at_once() -> None:
    store = Store()
    store.made.set()
    with fetching(store, "postgres") as parts:
        assert parts.first() == services("postgres")


def test_who_leaves_early_does_not_wait() -> None:
    store = Store()
    with pytest.raises(KeyboardInterrupt), fetching(store, "postgres", "objectstore") as parts:
        parts.first()
        raise KeyboardInterrupt
    assert store.was_cancelled


def test_a_fetch_that_fails_is_told() -> None:
    store = Store(LabError("no network"))
    with (
        pytest.raises(LabError, match="no network"),
        fetching(store, "postgres", "objectstore") as parts,
    ):
        parts.first()
