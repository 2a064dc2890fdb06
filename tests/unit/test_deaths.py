"""Deaths are told, with their causes, even where a crash of the machine tore the file of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest

from labctl.runtimes.native.events import Causes, Listener
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.runtimes.runtime_protocols import LAST_WORDS, OUT_OF_MEMORY, Death
from labctl.state.lab_state import LabState

WHOLE = {"service": "kafka", "at": 5.0, "gave_up": False}


@pytest.mark.parametrize(
    "torn",
    [
        b'{"service": "kaf',
        b"\0\0\0\xff",
        b"7",
        b'{"service": "kafka"}',
        b'{"service": "kafka", "at": "today", "gave_up": false}',
        b'{"service": ["kafka"], "at": 5.0, "gave_up": false}',
        b'{"service": "kafka", "at": 1e400, "gave_up": false}',
        b"[" * 100_000,
    ],
)
def test_a_torn_line_hides_no_other(
    torn: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state = LabState("unit")
    state.deaths.parent.mkdir(parents=True)  # `create` minds the length of a socket's path, too
    whole = json.dumps(WHOLE).encode()
    state.deaths.write_bytes(b"\n".join((whole, torn, whole, b"")))
    unused = cast(Any, None)
    assert NativeRuntime(unused, state, unused, {}, {}).inspector.deaths() == {
        "kafka": [Death(5.0), Death(5.0)]
    }


def test_deaths_since_the_lab_was_started_count_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state = LabState("unit")
    state.deaths.parent.mkdir(parents=True)
    line = json.dumps(WHOLE).encode() + b"\n"
    state.deaths.write_bytes(line)
    state.save(deaths_before=state.count_deaths())
    # The clock has been set back meanwhile.
    with state.deaths.open("ab") as file:
        file.write(json.dumps(WHOLE | {"at": 1.0}).encode() + b"\n")
    unused = cast(Any, None)
    assert NativeRuntime(unused, state, unused, {}, {}).inspector.deaths() == {
        "kafka": [Death(1.0)]
    }


ROOM = 0
"""A disk that is never full."""


def listener(
    folder: Path, *, kills: list[int], killed: set[int] | None, full_below: int = ROOM
) -> tuple[Listener, list[str]]:
    """A listener that takes the kernel's counts from `kills`, in turn; and what it has started."""
    started: list[str] = []
    causes = Causes(full_below, OUT_OF_MEMORY, LAST_WORDS)
    deaths = folder / "deaths.jsonl"
    for name in ("logs", "data/kafka"):
        (folder / name).mkdir(parents=True)
    made = Listener(
        deaths, causes, start=started.append, kills=lambda: kills.pop(0), killed=lambda: killed
    )
    return made, started


def noted(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "deaths.jsonl").read_text().splitlines()]


EXITED = ("PROCESS_STATE_EXITED", {"processname": "kafka", "pid": "42"})
FATAL = ("PROCESS_STATE_FATAL", {"processname": "kafka"})
TICK = ("TICK_5", {"when": "1"})


@pytest.mark.parametrize(
    ("kills", "killed", "cause"),
    [
        ([3, 4], {42, 7}, OUT_OF_MEMORY),
        ([3, 4], {7}, None),  # the kernel has killed another
        ([3, 4], None, f"perhaps {OUT_OF_MEMORY}"),  # its log is not for everybody to read
        ([3, 4], set(), f"perhaps {OUT_OF_MEMORY}"),
        ([3, 3], {42}, None),  # a process of that number, long ago
    ],
)
def test_whom_the_kernel_killed_for_want_of_memory(
    kills: list[int], killed: set[int] | None, cause: str | None, tmp_path: Path
) -> None:
    made, _ = listener(tmp_path, kills=kills, killed=killed)
    made.handle(*EXITED)
    assert [death.get("cause") for death in noted(tmp_path)] == [cause]


@pytest.mark.parametrize(("said", "cause"), LAST_WORDS.items())
def test_what_a_process_said_last_is_of_this_death_alone(
    said: str, cause: str, tmp_path: Path
) -> None:
    made, _ = listener(tmp_path, kills=[0] * 4, killed=set())
    log = tmp_path / "logs" / "kafka.log"
    log.write_text("started\n" + f"{said}: Java heap space\n")
    made.handle(*EXITED)
    with log.open("a") as file:
        file.write("started again\n")
    made.handle(*EXITED)
    assert [death.get("cause") for death in noted(tmp_path)] == [cause, None]


def test_what_was_given_up_on_a_full_disk_is_started_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, started = listener(tmp_path, kills=[0] * 9, killed=set(), full_below=10**18)
    made.handle(*FATAL)
    made.handle(*TICK)
    assert not started
    assert noted(tmp_path)[0]["cause"] == "its disk was full"
    monkeypatch.setattr(made, "_is_full", lambda _service: False)
    made.handle(*TICK)
    made.handle(*TICK)
    assert started == ["kafka"]


def test_a_death_that_cannot_be_written_down_is_written_later(tmp_path: Path) -> None:
    made, _ = listener(tmp_path, kills=[0] * 3, killed=set())
    (tmp_path / "deaths.jsonl").mkdir()
    made.handle(*EXITED)
    (tmp_path / "deaths.jsonl").rmdir()
    made.handle(*TICK)
    assert [death["service"] for death in noted(tmp_path)] == ["kafka"]
