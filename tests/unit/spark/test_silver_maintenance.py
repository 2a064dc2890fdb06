"""Table services that fail: tried again without being asked, and nothing planned twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark import SparkContext

from lakehouse import maintenance
from lakehouse.hudi import TableState
from lakehouse.maintenance import Maintenance

WAIT_SECONDS = 120.0


class Client:
    """A write client that notes what it is asked, and fails where `fails` says."""

    def __init__(self, fails: list[str]) -> None:
        self.asked: list[str] = []
        self.closed = threading.Semaphore(0)
        self._fails = fails

    def _note(self, what: str) -> None:
        self.asked.append(what)
        if what in self._fails:
            self._fails.remove(what)
            raise RuntimeError(what)

    def runAnyPendingCompactions(self) -> None:  # noqa: N802 - Hudi's name
        self._note("finish")

    def scheduleCompaction(self, _nothing: object) -> Any:  # noqa: N802
        self._note("plan")
        return SimpleNamespace(isPresent=lambda: True, get=lambda: "001")

    def compact(self, _instant: str, _complete: bool) -> None:
        self._note("compact")

    def clean(self, _plan: bool = True) -> None:
        self._note("clean")

    def archive(self) -> None:
        self._note("archive")

    def close(self) -> None:
        self.closed.release()


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """What a table's client is asked, in order, until it was closed `rounds` times."""
    # A thread of PySpark's asks for a context as soon as any test has started the JVM.
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(maintenance, "_FIRST_PAUSE_SECONDS", 0.01)

    def run(state: TableState, *fails: str, rounds: int) -> list[str]:
        client = Client(list(fails))
        config = SimpleNamespace(
            name="sale",
            table_type="MERGE_ON_READ",
            compact_after_commits=2,
            compact_after_records=100,
        )
        table = SimpleNamespace(
            config=config,
            lock=threading.Lock(),
            services=threading.Lock(),
            write_client=lambda: client,
        )
        context = SimpleNamespace(setLocalProperty=lambda *_: None, _jvm=_Anything())
        made = Maintenance(cast("Any", SimpleNamespace(sparkContext=context)))
        made.opened(cast("Any", table), state)
        made.start()
        for _ in range(rounds):
            assert client.closed.acquire(timeout=WAIT_SECONDS)
        made.stop()
        if error := made.error("sale"):
            client.asked.append(f"error: {error}")
        assert not client.closed.acquire(blocking=False)
        return client.asked

    return run


class _Anything:
    """A name of the JVM, whichever."""

    def __getattr__(self, _name: str) -> _Anything:
        return self

    def __call__(self, *_arguments: object) -> _Anything:
        return self


def test_what_an_earlier_run_left_is_finished_and_nothing_else_is_begun(
    serve: Callable[..., list[str]],
) -> None:
    left = TableState(None, {}, is_service_unfinished=True)
    assert serve(left, rounds=1) == ["finish", "clean"]


def test_a_service_that_fails_is_tried_again_without_a_commit(
    serve: Callable[..., list[str]],
) -> None:
    left = TableState(None, {}, is_service_unfinished=True)
    assert serve(left, "finish", rounds=2) == ["finish", "finish", "clean"]


def test_a_plan_that_failed_half_way_is_finished_before_there_is_another(
    serve: Callable[..., list[str]],
) -> None:
    due = TableState(None, {}, commits_since_compaction=2)
    asked = serve(due, "compact", rounds=2)
    assert asked == ["finish", "plan", "compact", "finish", "clean"]


def test_a_plan_that_could_not_be_made_is_still_due(serve: Callable[..., list[str]]) -> None:
    due = TableState(None, {}, commits_since_compaction=2)
    assert serve(due, "plan", rounds=2) == ["finish", "plan", "finish", "plan", "compact"]


def test_what_is_left_untidied_by_short_runs_is_tidied_at_the_next_start(
    serve: Callable[..., list[str]],
) -> None:
    untidied = TableState(None, {}, commits_since_cleaning=20)
    assert serve(untidied, rounds=1) == ["finish", "clean", "archive"]


def test_why_a_service_fails_is_told_until_it_succeeds(
    serve: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(maintenance, "_FIRST_PAUSE_SECONDS", 60.0)
    due = TableState(None, {}, commits_since_compaction=2)
    assert serve(due, "compact", rounds=1) == ["finish", "plan", "compact", "error: compact"]
