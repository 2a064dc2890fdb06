"""The pipeline as it goes on, looked at only while somebody looks on.

Quick looks ask the supervisor, the Spark application and Kafka for what they know anyway, each by
itself, so that a killed process is seen within a second also while another part hangs. A whole
look, `labctl status`, sends each service a request. It costs more, is made every few seconds, and
at once when a process has changed.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import requests

from labctl.errors import LabError
from labctl.kafka.offsets import TopicEnds
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.overview import DOWN, status_of
from labctl.runtimes.runtime_protocols import ProcessState
from labctl.tables import LabTable
from labctl.ui.page_context import PageContext
from labctl.ui.pipeline_view import PipelineView, QuickLook, as_now, ingested_by, rates

if TYPE_CHECKING:
    from labctl.config.endpoints import Kafka

__all__ = ["PipelineFeed"]

T = TypeVar("T")

_log = logging.getLogger(__name__)
_SILVER_SECONDS = 0.25
_PROCESSES_SECONDS = 0.5
_TOPICS_SECONDS = 1.0
_SHARE = 4.0
"""Seconds of rest per second of looking: looks at containers are dear, so there are fewer."""
_WHOLE_SECONDS = 10.0
_ANSWER_SECONDS = 30.0
"""Seconds that a look may take: a service that hangs has its own, shorter limit."""
_LEAST_SECONDS = 1.0
"""Seconds between two whole looks, at least."""
_RATE_SECONDS = 3.0
"""Seconds over which a rate is taken."""


@dataclass(frozen=True)
class _Whole:
    """The findings of a whole look."""

    lab: Lab
    tables: tuple[LabTable, ...]
    data: Mapping[str, Any]


class PipelineFeed:
    """The source of views for all viewers. It asks nothing while there are none."""

    def __init__(self, context: PageContext) -> None:
        self._context = context
        self._viewers = 0
        self._topic_ends: tuple[Kafka, TopicEnds] | None = None
        self._work: tuple[asyncio.Task[None], ...] = ()
        self._changed = asyncio.Condition()
        self._forget()

    def _forget(self) -> None:
        self._view: PipelineView | None = None
        self._whole: _Whole | None = None
        self._error: str | None = None
        self._is_due = asyncio.Event()
        self._states: Mapping[str, ProcessState] = {}
        self._silver: Mapping[str, Any] = {}
        self._ends: Mapping[str, int] = {}
        self._looks: list[QuickLook] = []

    @contextmanager
    def viewer(self) -> Iterator[None]:
        """Count a viewer while the block runs: the first begins the looks, the last ends them."""
        self._viewers += 1
        if self._viewers == 1:
            self._forget()
            looks = (
                self._look_whole(),
                self._repeat(_processes, self._keep_processes, _PROCESSES_SECONDS),
                self._repeat(silver_status, self._keep_silver, _SILVER_SECONDS),
                self._repeat(self._topics, self._keep_ends, _TOPICS_SECONDS),
            )
            self._work = tuple(map(asyncio.ensure_future, looks))
        try:
            yield
        finally:
            self._viewers -= 1
            if not self._viewers:
                for task in self._work:
                    task.cancel()
                self._work = ()
                self._topic_ends = None

    async def views(self) -> AsyncIterator[PipelineView]:
        """Yield the pipeline as it is, then whenever it has changed; for a viewer, without end."""
        seen: PipelineView | None = None
        while True:
            async with self._changed:
                await self._changed.wait_for(
                    lambda: self._view is not None and self._view is not seen  # noqa: B023
                )
                seen = self._view
            assert seen is not None  # noqa: S101 - the condition says so
            yield seen

    async def _look_whole(self) -> None:
        while True:
            self._is_due.clear()
            try:
                self._whole = await self._ask(self._find_whole)
                self._error = None
            except LabError as error:
                self._error = self._context.addressed(str(error))
            except Exception as error:  # the page goes on, and says what it is
                _log.exception("a look at the lab failed")
                self._error = f"{type(error).__name__}: {error}"
            await self._publish()
            await asyncio.sleep(_LEAST_SECONDS)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._is_due.wait(), _WHOLE_SECONDS - _LEAST_SECONDS)

    def _find_whole(self) -> _Whole:
        lab = self._context.address.open()
        return _Whole(lab, tuple(lab.tables), status_of(lab))

    async def _repeat(
        self, look: Callable[[Lab], T], keep: Callable[[T | None], None], seconds: float
    ) -> None:
        """Look every few `seconds`, and keep what was found; None where there was no answer."""
        while True:
            begun = time.monotonic()
            if (whole := self._whole) is not None:
                try:
                    keep(await self._ask(partial(look, whole.lab)))
                except (LabError, requests.RequestException):
                    keep(None)
                await self._publish()
            rest = _SHARE * (time.monotonic() - begun)
            await asyncio.sleep(min(max(seconds, rest), _WHOLE_SECONDS))

    def _keep_processes(self, found: Mapping[str, ProcessState] | None) -> None:
        if self._whole is None or found is None:
            return
        self._states = found
        self._note_look()
        services = as_now(self._whole.data, self._looks[-1], {})["services"]
        if any(service.state == DOWN for service in services):
            self._is_due.set()

    def _note_look(self) -> None:
        look = QuickLook(time.time(), self._states, self._silver, self._ends)
        self._looks.append(look)
        while len(self._looks) > 2 and self._looks[1].at < look.at - _RATE_SECONDS:
            del self._looks[0]

    def _keep_silver(self, found: Mapping[str, Any] | None) -> None:
        self._silver = found or {}
        if self._states:
            self._note_look()

    def _keep_ends(self, found: Mapping[str, int] | None) -> None:
        self._ends = found or {}

    def _topics(self, lab: Lab) -> Mapping[str, int]:
        """Return the records of each topic so far."""
        kafka = lab.endpoints.kafka
        if self._topic_ends is None or self._topic_ends[0] != kafka:
            self._topic_ends = (kafka, TopicEnds(kafka))
        found = self._topic_ends[1].of(sorted({table.topic for table in lab.tables}))
        return {topic: sum(parts.values()) for topic, parts in found.items()}

    async def _ask(self, question: Callable[[], T]) -> T:
        return await self._context.ask(question, seconds=_ANSWER_SECONDS, what="the lab")

    async def _publish(self) -> None:
        view = self._seen()
        if view is not None and view != self._view:
            async with self._changed:
                self._view = view
                self._changed.notify_all()

    def _seen(self) -> PipelineView | None:
        if self._whole is None:
            return PipelineView((), {}, error=self._error) if self._error else None
        tables, data = self._whole.tables, self._whole.data
        if not self._looks:
            return PipelineView(tables, data, error=self._error)
        first, last = self._looks[0], self._looks[-1]
        seconds = last.at - first.at
        topics = {table.name: table.topic for table in tables}
        return PipelineView(
            tables,
            as_now(data, last, topics),
            topic_rates=rates(first.ends, last.ends, seconds),
            table_rates=rates(ingested_by(first, topics), ingested_by(last, topics), seconds),
            topic_records=last.ends,
            error=self._error,
        )


def _processes(lab: Lab) -> Mapping[str, ProcessState]:
    return lab.runtime.states()
