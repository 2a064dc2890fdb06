"""Two users of a machine, and folders that group permissions open to both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from labctl.artifacts import ArtifactStore
from labctl.config.lab_config import find_project
from labctl.errors import ExitCode, LabError
from labctl.state import ownership
from labctl.state.lab_secrets import load_passwords
from labctl.state.lab_state import STATE_VERSION, LabState, lab_names, state_home

OTHER = 54_321
"""A user that no machine has."""

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be two users")


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that others may enter, as a test's own is none."""
    with TemporaryDirectory(prefix="labctl-") as folder:
        path = Path(folder)
        path.chmod(0o2777)
        yield path


@contextmanager
def user(uid: int) -> Iterator[None]:
    """Be another user."""
    before = os.geteuid()
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(before)
        os.setegid(0)


@contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@pytest.mark.parametrize("mask", [0o000, 0o002, 0o022])
def test_whatever_the_umask_no_other_user_can_change_a_labs_folders(
    mask: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state = LabState("one")
    with umask(mask):
        state.create()
        state.save(name="one")
        load_passwords(state.secrets, ["postgres"])
        ArtifactStore(tmp_path / "cache").verify()
    modes = {path: path.stat().st_mode & 0o077 for path in state_home().rglob("*")}
    assert modes == dict.fromkeys(modes, 0)
    assert state_home().stat().st_mode & 0o077 == 0
    assert (tmp_path / "cache").stat().st_mode & 0o022 == 0


def test_a_folder_that_others_could_change_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    state_home().mkdir()
    state_home().chmod(0o2775)
    LabState("one").create()
    assert state_home().stat().st_mode & 0o077 == 0


@as_root
def test_the_second_user_of_a_state_folder_is_refused_by_name(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(shared))
    with umask(0o002), user(OTHER):
        LabState("theirs").create()
        LabState("theirs").save(name="theirs")
    for use in (
        lab_names,
        LabState("theirs").load,
        LabState("theirs").require,
        LabState("mine").create,
    ):
        with pytest.raises(LabError, match=f"belongs to user {OTHER}, not to root") as refused:
            use()
        assert refused.value.exit_code is ExitCode.ENVIRONMENT
        assert "XDG_STATE_HOME" in (refused.value.hint or "")


@as_root
def test_a_lab_that_another_user_has_put_among_ones_own_is_refused(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Passwords in it would be known to whoever has made it."""
    monkeypatch.setenv("XDG_STATE_HOME", str(shared))
    state_home().mkdir(mode=0o777)
    state_home().chmod(0o777)
    with user(OTHER):
        (state_home() / "tickit" / "secrets").mkdir(parents=True)
        (state_home() / "tickit" / "secrets" / "passwords.json").write_text('{"postgres": "known"}')
        (state_home() / "tickit" / "lab.json").write_text(json.dumps({"version": STATE_VERSION}))
    for use in (LabState("tickit").load, LabState("tickit").create):
        with pytest.raises(LabError, match=f"tickit belongs to user {OTHER}"):
            use()


@as_root
def test_a_folder_that_cannot_be_entered_is_refused_by_name(
    shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shared / "closed").mkdir(mode=0o700)
    monkeypatch.setenv("XDG_STATE_HOME", str(shared / "closed"))
    with user(OTHER), pytest.raises(LabError, match="closed/labctl cannot be entered: Permission"):
        lab_names()


@as_root
def test_parts_of_another_user_are_not_run(shared: Path) -> None:
    store = ArtifactStore(shared / "cache", system_tools=False)
    with user(OTHER + 1):
        store.verify()
    with user(OTHER), pytest.raises(LabError, match=f"cache belongs to user {OTHER + 1}"):
        store.statuses()
    store.statuses()  # root, in a container say
    provided = ArtifactStore(shared / "provided", system_tools=False)
    provided.verify()
    with user(OTHER):
        provided.statuses()


@as_root
@pytest.mark.parametrize("sudo", [True, False])
def test_a_project_that_another_user_made_is_used_only_by_its_name(
    sudo: bool, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LABCTL_PROJECT", raising=False)
    with user(OTHER):
        (shared / "lab.toml").write_text('name = "planted"')
    (shared / "below").mkdir()
    monkeypatch.chdir(shared / "below")
    shared.chmod(0o755)
    if sudo:  # by the user whose project it is
        monkeypatch.setenv("SUDO_UID", str(OTHER))
        assert find_project() == shared
    else:
        monkeypatch.delenv("SUDO_UID", raising=False)
        with pytest.raises(LabError, match=rf"lab\.toml belongs to user {OTHER}: ") as refused:
            find_project()
        assert f"LABCTL_PROJECT={shared}" in (refused.value.hint or "")
        monkeypatch.setenv("LABCTL_PROJECT", str(shared))
        assert find_project() == shared


def test_a_project_where_every_user_may_write_is_used_only_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lab.toml").write_text('name = "open"')
    tmp_path.chmod(0o1777)
    (tmp_path / "below").mkdir()
    monkeypatch.delenv("LABCTL_PROJECT", raising=False)
    monkeypatch.chdir(tmp_path / "below")
    with pytest.raises(LabError, match="can be written by every user"):
        find_project()
    tmp_path.chmod(0o2775)  # a team's
    assert find_project() == tmp_path


@as_root
def test_a_command_of_the_second_user_ends_with_one_clear_error(shared: Path) -> None:
    with user(OTHER):
        (shared / "lab.toml").write_text('name = "planted"')
    ended = subprocess.run(
        [sys.executable, "-m", "labctl", "status"],
        cwd=shared,
        env={**os.environ, "SUDO_UID": str(OTHER + 1)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == ExitCode.USAGE
    assert "Traceback" not in ended.stderr
    assert "LABCTL_PROJECT" in ended.stderr


def test_a_user_without_a_name_has_a_number() -> None:
    assert ownership.owner_name(OTHER) == str(OTHER)
    assert ownership.owner_name(0) == "root"
