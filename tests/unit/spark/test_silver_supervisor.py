"""Workers that fail: started again, or left until somebody asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from lakecontract.errors import PermanentError
from lakehouse import clock
from lakehouse.progress import WorkerProgress
from lakehouse.supervisor import Supervisor


class Scripted:
    """A worker whose every start ends as `ends` says: with an error, or well (None)."""

    def __init__(self, name: str, ends: list[Exception | None]) -> None:
        self.name = name
        self.progress = WorkerProgress()
        self.starts = 0
        self._ends = ends
        self._running = threading.Event()

    def waiting_for(self) -> str | None:
        return None

    def start(self) -> None:
        self.starts += 1
        if self.starts > len(self._ends):
            self._running.set()

    def is_alive(self) -> bool:
        return self._running.is_set()

    def error(self) -> Exception | None:
        return self._ends[self.starts - 1] if self.starts <= len(self._ends) else None

    def stop(self) -> None:
        self._running.clear()


def until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def supervise() -> Iterator[Callable[..., Supervisor]]:
    running: list[tuple[Supervisor, threading.Thread]] = []

    def start(*workers: Scripted) -> Supervisor:
        supervisor = Supervisor(workers, once=False)
        thread = threading.Thread(target=supervisor.run)
        thread.start()
        running.append((supervisor, thread))
        return supervisor

    yield start
    for supervisor, thread in running:
        supervisor.stop()
        thread.join(10)
        assert not thread.is_alive()


def state(worker: Scripted) -> object:
    return worker.progress.snapshot()["state"]


def test_a_failed_worker_is_started_again(supervise: Callable[..., Supervisor]) -> None:
    worker = Scripted("sale", [OSError("broker away")])

    supervise(worker)

    until(lambda: state(worker) == "running")
    snapshot = worker.progress.snapshot()
    assert (worker.starts, snapshot["restarts"]) == (2, 1)
    assert snapshot["error"] == "broker away"


def test_a_permanent_failure_stops_one_worker_and_no_other(
    supervise: Callable[..., Supervisor],
) -> None:
    bad = Scripted("bad", [PermanentError("what", hint="hint")])
    good = Scripted("good", [])

    supervise(bad, good)

    until(lambda: state(bad) == "failed" and state(good) == "running")
    assert bad.starts == 1
    assert bad.progress.snapshot()["error"] == "what. hint"


def test_a_worker_that_gave_up_can_be_started_again(supervise: Callable[..., Supervisor]) -> None:
    worker = Scripted("bad", [PermanentError("what", hint="hint")])
    supervisor = supervise(worker)
    until(lambda: state(worker) == "failed")

    assert supervisor.restart("bad")
    assert state(worker) != "failed"

    until(lambda: state(worker) == "running")
    assert not supervisor.restart("nobody")


def test_a_worker_that_is_asked_to_begin_again_while_it_fails_is_not_said_to_have_failed(
    supervise: Callable[..., Supervisor],
) -> None:
    """Whoever asked would take the old failure for the answer."""
    failing, asked = threading.Event(), threading.Event()
    said: list[object] = []

    class Slow(Scripted):
        def start(self) -> None:
            super().start()
            if self.starts == 1:
                failing.set()
                assert asked.wait(10)

    worker = Slow("slow", [PermanentError("what", hint="hint")])
    note = worker.progress.set

    def noting(**facts: object) -> None:
        said.append(facts.get("state"))
        note(**facts)

    worker.progress.set = noting  # type: ignore[method-assign]
    supervisor = supervise(worker)
    assert failing.wait(10)
    supervisor.restart("slow")
    asked.set()

    until(lambda: worker.starts == 2 and state(worker) == "running")
    assert "failed" not in said


def test_a_running_worker_is_stopped_and_started_on_request(
    supervise: Callable[..., Supervisor],
) -> None:
    worker = Scripted("sale", [])
    supervisor = supervise(worker)
    until(lambda: state(worker) == "running")

    supervisor.restart("sale")

    until(lambda: worker.starts == 2)


def test_workers_begin_again_when_the_clock_was_put_back(
    supervise: Callable[..., Supervisor], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Scripted("sale", [])
    supervise(worker)
    until(lambda: state(worker) == "running")

    monkeypatch.setattr(clock, "now", lambda: time.time() - 3600)

    until(lambda: worker.starts == 2)
    assert "put back" in str(worker.progress.snapshot()["error"])


def test_once_ends_when_all_are_done() -> None:
    workers = [Scripted("a", [None]), Scripted("b", [OSError("away"), None])]

    assert Supervisor(workers, once=True).run()

    assert [state(worker) for worker in workers] == ["done", "done"]


def test_once_tells_of_a_failure() -> None:
    workers = [Scripted("a", [None]), Scripted("b", [PermanentError("what", hint="hint")])]

    assert not Supervisor(workers, once=True).run()


@pytest.mark.parametrize("ends", [[], [PermanentError("what", hint="hint")]])
def test_a_worker_gives_its_place_to_another(
    supervise: Callable[..., Supervisor], ends: list[Exception | None]
) -> None:
    """From running, and from having given up; the progress is one."""
    worker = Scripted("sale", ends)
    supervisor = supervise(worker)
    until(lambda: state(worker) == ("failed" if ends else "running"))
    successor = Scripted("sale", [])
    successor.progress = worker.progress

    supervisor.replace(successor, configuration="new")

    until(lambda: successor.starts == 1 and state(successor) == "running")
    assert not worker.is_alive()
    assert worker.progress.snapshot()["configuration"] == "new"
    assert worker.progress.snapshot()["error"] is None
    assert supervisor.restart("sale")
    until(lambda: successor.starts == 2)
    assert worker.starts == 1


def test_a_worker_that_waits_gives_its_place_too(supervise: Callable[..., Supervisor]) -> None:
    class Waiting(Scripted):
        def waiting_for(self) -> str | None:
            return "a topic"

    supervisor = supervise(Waiting("sale", []))
    successor = Scripted("sale", [])

    supervisor.replace(successor)

    until(lambda: state(successor) == "running")
