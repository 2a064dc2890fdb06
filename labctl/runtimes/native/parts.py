"""Fetching what services are made of, while those that have theirs are started."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from types import TracebackType

from labctl.artifacts import ArtifactStore, Progress, Unit
from labctl.services.model import Service

__all__ = ["PartsBeingFetched", "artifacts_of"]


class PartsBeingFetched(AbstractContextManager["PartsBeingFetched"]):
    """The artefacts of `services`, fetched on a thread of its own. Left early, it stops.

    See `labctl.runtimes.model.Fetching`.
    """

    def __init__(
        self, store: ArtifactStore, services: Sequence[Service], progress: Progress
    ) -> None:
        self._store = store
        self._services = services
        self._progress = _Noting(progress)
        self._cancelled = threading.Event()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="fetch")
        self._fetch: Future[object] | None = None

    def __enter__(self) -> PartsBeingFetched:
        self._fetch = self._pool.submit(
            self._store.fetch,
            artifacts_of(self._services),
            progress=self._progress,
            cancelled=self._cancelled,
        )
        self._fetch.add_done_callback(lambda _: self._progress.end())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cancelled.set()
        self._pool.shutdown()

    def first(self) -> list[Service]:
        compiled = set(self._store.to_compile(artifacts_of(self._services)))
        if not compiled:
            self.rest()
            return list(self._services)
        early = [s for s in self._services if not compiled.intersection(s.native.artifacts)]
        self._progress.wait_for(self._store.missing(artifacts_of(early)))
        assert self._fetch is not None  # noqa: S101 - entered
        if self._fetch.done():
            self._fetch.result()
        return early

    def rest(self) -> None:
        assert self._fetch is not None  # noqa: S101 - entered
        self._fetch.result()


class _Noting:
    """Passes progress on, and notes what is finished."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._finished: set[str] = set()
        self._over = False
        self._changed = threading.Condition()

    def begin(self, artifact: str, phase: str, total: int | None, unit: Unit) -> None:
        self._progress.begin(artifact, phase, total, unit)

    def advance(self, artifact: str, amount: int) -> None:
        self._progress.advance(artifact, amount)

    def finish(self, artifact: str) -> None:
        self._progress.finish(artifact)
        with self._changed:
            self._finished.add(artifact)
            self._changed.notify_all()

    def end(self) -> None:
        """Nothing more will be finished."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def wait_for(self, artifacts: Sequence[str]) -> None:
        """Until all of them are finished, or nothing more will be."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._finished.issuperset(artifacts))


def artifacts_of(services: Sequence[Service]) -> list[str]:
    """The artefacts that services are made of."""
    return sorted({name for service in services for name in service.native.artifacts})
