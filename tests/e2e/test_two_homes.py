"""Labs of two home folders, which do not know of each other, started at the same moment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import requests

from labctl.state.lab_state import LabState
from tests.waiting import wait_for

PROJECT = Path(__file__).parents[2]
SECONDS = 10


@pytest.fixture
def homes() -> Iterator[list[str]]:
    with (
        TemporaryDirectory(prefix="labctl-") as one,
        TemporaryDirectory(prefix="labctl-") as two,
    ):
        yield [one, two]
        for home in (one, two):
            ended = begin(home, "destroy", "--yes")
            output, _ = ended.communicate()
            assert ended.returncode == 0, output


def begin(home: str, *words: str) -> subprocess.Popen[str]:
    """A command for the lab of a home folder, on its way."""
    return subprocess.Popen(
        [sys.executable, "-m", "labctl", "--lab", "second", *words],
        cwd=PROJECT,
        env={**os.environ, "XDG_STATE_HOME": home},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.long
def test_each_lab_of_two_homes_has_its_own_registry(
    homes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    commands = [begin(home, "up", "registry") for home in homes]
    for command in commands:
        output, _ = command.communicate()
        assert command.returncode == 0, output
    ports = []
    for home in homes:
        monkeypatch.setenv("XDG_STATE_HOME", home)
        state = LabState("second")
        ports.append(state.load()["ports"])
        assert not any('"registry"' in line for line in deaths(state)), "its port was its own"
    one, two = ({port for each in of.values() for port in each.values()} for of in ports)
    assert not one & two
    first, second = (
        f"http://127.0.0.1:{of['registry']['http']}/apis/ccompat/v7/subjects" for of in ports
    )
    made = requests.post(f"{first}/of-one/versions", json={"schema": '"string"'}, timeout=SECONDS)
    made.raise_for_status()
    wait_for(lambda: requests.get(first, timeout=SECONDS).json() == ["of-one"])
    assert requests.get(second, timeout=SECONDS).json() == []


def deaths(state: LabState) -> list[str]:
    return state.deaths.read_text().splitlines() if state.deaths.is_file() else []
