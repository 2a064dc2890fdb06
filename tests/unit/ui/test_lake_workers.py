"""The processes that read the lake: their answers, their errors, and their end."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import psutil
import pytest

from labctl.config.lab_config import find_project
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.ui import lake_workers
from labctl.ui.lake_workers import LabAddress, LakeWorkers


def name_and_process(lab: Lab, word: str) -> tuple[str, str, int]:
    return lab.name, word, os.getpid()


def refuse(_: Lab) -> None:
    raise LabError("no", hint="next", details=("a",), exit_code=ExitCode.USAGE)


def fail(_: Lab) -> None:
    raise ValueError("of the code")


def hang(_: Lab, place: str) -> None:
    Path(place).write_text(str(os.getpid()))
    time.sleep(600)


def die(_: Lab) -> None:
    os._exit(3)


def with_workers(run: Callable[[LakeWorkers], Awaitable[None]]) -> None:
    async def whole() -> None:
        workers = LakeWorkers(LabAddress(find_project(None), "never-started"))
        try:
            await run(workers)
        finally:
            workers.close()

    asyncio.run(whole())


def test_a_question_is_answered_and_the_process_kept_for_the_next() -> None:
    async def run(workers: LakeWorkers) -> None:
        first = await workers.ask(name_and_process, "a", seconds=60, what="it")
        second = await workers.ask(name_and_process, "b", seconds=60, what="it")
        assert first[:2] == ("never-started", "a")
        assert second[1:] == ("b", first[2])
        assert first[2] != os.getpid()

    with_workers(run)


def test_errors_come_as_they_were_and_the_process_goes_on() -> None:
    async def run(workers: LakeWorkers) -> None:
        with pytest.raises(LabError) as caught:
            await workers.ask(refuse, seconds=60, what="it")
        error = caught.value
        assert (error.what, error.hint, error.details) == ("no", "next", ("a",))
        assert error.exit_code is ExitCode.USAGE
        with pytest.raises(LabError, match="ValueError: of the code"):
            await workers.ask(fail, seconds=60, what="it")
        assert (await workers.ask(name_and_process, "a", seconds=60, what="it"))[1] == "a"

    with_workers(run)


def test_a_question_that_hangs_is_ended_and_the_next_is_answered(tmp_path: Path) -> None:
    place = tmp_path / "process"

    async def run(workers: LakeWorkers) -> None:
        await workers.ask(name_and_process, "a", seconds=60, what="it")
        with pytest.raises(LabError, match="the table did not answer within 2 s") as caught:
            await workers.ask(hang, str(place), seconds=2, what="the table")
        assert caught.value.exit_code is ExitCode.NOT_READY
        assert not psutil.pid_exists(int(place.read_text()))
        assert (await workers.ask(name_and_process, "b", seconds=60, what="it"))[1] == "b"

    with_workers(run)


def begin_another(_: Lab, place: str) -> None:
    child = subprocess.Popen(["sleep", "600"])
    Path(place).write_text(str(child.pid))
    time.sleep(600)


def test_what_a_process_has_begun_ends_with_it(tmp_path: Path) -> None:
    place = tmp_path / "child"

    async def run(workers: LakeWorkers) -> None:
        asked = asyncio.ensure_future(
            workers.ask(begin_another, str(place), seconds=600, what="it")
        )
        async with asyncio.timeout(60):
            while not (place.exists() and place.read_text()):
                await asyncio.sleep(0.02)
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        child = int(place.read_text())
        async with asyncio.timeout(60):
            while psutil.pid_exists(child) and psutil.Process(child).status() != "zombie":
                await asyncio.sleep(0.02)
        assert (await workers.ask(name_and_process, "b", seconds=60, what="it"))[1] == "b"

    with_workers(run)


def test_waiting_for_a_turn_has_the_same_limit(tmp_path: Path) -> None:
    async def run(workers: LakeWorkers) -> None:
        busy = [
            asyncio.ensure_future(
                workers.ask(hang, str(tmp_path / str(number)), seconds=600, what="it")
            )
            for number in range(2)
        ]
        await asyncio.sleep(0)
        with pytest.raises(LabError, match="other questions are being answered"):
            await workers.ask(name_and_process, "a", seconds=0.1, what="it")
        for one in busy:
            one.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
        assert (await workers.ask(name_and_process, "b", seconds=60, what="it"))[1] == "b"

    with_workers(run)


def test_a_process_that_died_is_said_and_replaced() -> None:
    async def run(workers: LakeWorkers) -> None:
        with pytest.raises(LabError, match="ended"):
            await workers.ask(die, seconds=60, what="it")
        assert (await workers.ask(name_and_process, "b", seconds=60, what="it"))[1] == "b"

    with_workers(run)


def test_a_process_that_nobody_asks_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lake_workers, "_IDLE_SECONDS", 0.2)

    async def run(workers: LakeWorkers) -> None:
        process = (await workers.ask(name_and_process, "a", seconds=60, what="it"))[2]
        async with asyncio.timeout(30):
            while psutil.pid_exists(process):
                await asyncio.sleep(0.02)

    with_workers(run)
