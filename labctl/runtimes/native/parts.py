"""Fetching of services' parts while services whose parts are complete start."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from labctl.artifacts import ArtifactStatus, ArtifactStore, Progress, Unit
from labctl.services.service import Service

__all__ = ["PartsBeingFetched", "fetching_parts"]


@contextmanager
def fetching_parts(
    store: ArtifactStore, services: Sequence[Service], progress: Progress
) -> Iterator[PartsBeingFetched]:
    """Fetch the artefacts of `services` on a thread; cancel if the block is left early."""
    noting, cancelled = _Noting(progress), threading.Event()
    with ThreadPoolExecutor(1, thread_name_prefix="fetch") as pool:
        fetch = pool.submit(
            store.fetch, _artifacts_of(services), progress=noting, cancelled=cancelled
        )
        fetch.add_done_callback(lambda _: noting.end())
        try:
            yield PartsBeingFetched(store, services, noting, fetch)
        finally:
            cancelled.set()


@dataclass(frozen=True)
class PartsBeingFetched:
    """A fetch in progress; see `labctl.runtimes.runtime_protocols.Fetching`."""

    _store: ArtifactStore
    _services: Sequence[Service]
    _progress: _Noting
    _fetch: Future[list[ArtifactStatus]]

    def first(self) -> list[Service]:
        compiled = set(self._store.to_compile(_artifacts_of(self._services)))
        if not compiled:
            self.rest()
            return list(self._services)
        early = [s for s in self._services if not compiled.intersection(s.native_form.artifacts)]
        self._progress.wait_for(self._store.missing(_artifacts_of(early)))
        if self._fetch.done():
            self._fetch.result()
        return early

    def rest(self) -> None:
        self._fetch.result()


class _Noting:
    """A `Progress` that forwards reports and records finished artefacts."""

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
        """Record that no more artefacts will be finished."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def wait_for(self, artifacts: Sequence[str]) -> None:
        """Wait until all of them are finished or the fetch has ended."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or self._finished.issuperset(artifacts))


def _artifacts_of(services: Sequence[Service]) -> list[str]:
    return sorted({name for service in services for name in service.native_form.artifacts})
