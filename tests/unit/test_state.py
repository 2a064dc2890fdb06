from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from labctl.errors import ExitCode, LabError
from labctl.lab.state import LabState, lab_names, write_private

HOLD_THE_LAB = """
import sys
from labctl.lab.state import LabState
with LabState(sys.argv[1]).changing():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


def test_an_unknown_lab_is_refused_with_the_known_ones() -> None:
    state = LabState("known")
    state.create()
    state.save(name="known")
    with pytest.raises(LabError) as raised:
        LabState("other").require()
    assert raised.value.exit_code is ExitCode.USAGE
    assert "known" in (raised.value.hint or "")
    assert lab_names() == ["known"]


def test_values_are_merged_and_kept() -> None:
    state = LabState("one")
    state.create()
    state.save(ports={"kafka": {"broker": 9092}})
    state.save(started_at=1.0)
    assert state.load() == {"ports": {"kafka": {"broker": 9092}}, "started_at": 1.0}


def test_a_damaged_file_says_how_to_go_on() -> None:
    state = LabState("one")
    state.create()
    (state.folder / "lab.json").write_text("{")
    with pytest.raises(LabError, match="damaged"):
        state.load()


def test_two_commands_cannot_change_a_lab_at_once() -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_LAB, "one"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdin is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LabError) as raised, LabState("one").changing():
            pass
        assert raised.value.exit_code is ExitCode.BUSY
        assert str(holder.pid) in raised.value.what
        holder.stdin.close()
    with LabState("one").changing():
        pass


def test_secrets_are_private_from_the_first_byte(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "secret"
    write_private(path, "x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_path_too_long_for_a_socket_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ("long" * 30)))
    with pytest.raises(LabError, match="too long for a unix socket"):
        LabState("one").create()
