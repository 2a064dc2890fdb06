"""Snapshots by name, and restores that are interrupted or refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.snapshots import (
    delete_snapshot,
    find_snapshot,
    finish_restore,
    remove_leftovers,
    save_snapshot,
    snapshots,
)
from labctl.lab.snapshots.restoring import check_files, check_versions, restore_snapshot
from labctl.lab.snapshots.snapshot_files import read_entries, read_records
from labctl.lab.snapshots.snapshot_store import (
    MANIFEST,
    Manifest,
    Snapshot,
    snapshot_home,
    write_manifest,
)
from labctl.state.lab_state import RESTORING, STATE_VERSION, LabState
from tests.unit.killing import kill_at_every_change

pytestmark = pytest.mark.usefixtures("state_home")
BUILDS: dict[str, str] = {"postgres": "18.6"}


def make(name: str, text: str = "rows", builds: dict[str, str] = BUILDS) -> Snapshot:
    folder = snapshot_home() / name
    for part in ("data", "secrets"):
        (folder / part).mkdir(parents=True)
        (folder / part / "file").write_text(text, encoding="utf-8")
    manifest = Manifest(
        version=1,
        lab="shop",
        made_at=datetime.now(UTC),
        state_version=STATE_VERSION,
        seeded={"tickit": {"scale": 1.0}},
        schemas={},
        builds=builds,
        files=read_records(folder),
        entries=read_entries(folder),
    )
    write_manifest(folder, manifest)
    return find_snapshot(name)


def test_snapshots_are_listed_oldest_first_and_deleted_by_name() -> None:
    assert snapshots() == []
    make("loaded")
    make("before-fault")
    assert [snapshot.name for snapshot in snapshots()] == ["loaded", "before-fault"]
    delete_snapshot("loaded")
    assert [snapshot.name for snapshot in snapshots()] == ["before-fault"]
    assert not any(path.name != "before-fault" for path in snapshot_home().iterdir())


@pytest.mark.parametrize("clean", [remove_leftovers, lambda: delete_snapshot("other")])
def test_what_a_killed_command_left_is_deleted_by_the_next_one(clean: Callable[[], None]) -> None:
    """But not what a command that runs is about to finish."""
    make("loaded")
    make("other")
    ended = subprocess.Popen(["true"])
    ended.wait()
    for left in (f".deleted.old.{ended.pid}", f".new.half.{ended.pid}", f".new.now.{os.getpid()}"):
        shutil.copytree(snapshot_home() / "loaded", snapshot_home() / left)
    clean()
    found = {path.name for path in snapshot_home().iterdir()}
    assert found - {"other"} == {"loaded", f".new.now.{os.getpid()}"}


@pytest.mark.parametrize("name", ["", "../lab", ".hidden", "Upper", "a/b"])
def test_a_name_that_is_no_folder_of_its_own_is_refused(name: str) -> None:
    with pytest.raises(LabError, match="cannot name a snapshot") as error:
        delete_snapshot(name)
    assert error.value.exit_code is ExitCode.USAGE


def test_an_unknown_snapshot_is_refused_with_the_known_ones() -> None:
    make("loaded")
    with pytest.raises(LabError, match="no snapshot 'other'") as error:
        find_snapshot("other")
    assert error.value.hint == "snapshots: loaded"


@pytest.mark.parametrize("text", ["", "{}", '{"version": "x"}'])
def test_a_damaged_manifest_is_named_and_can_be_deleted(text: str) -> None:
    file = make("loaded").folder / MANIFEST
    file.write_text(text, encoding="utf-8")
    with pytest.raises(LabError, match=r"snapshot\.json is damaged"):
        find_snapshot("loaded")
    assert snapshots() == []
    delete_snapshot("loaded")
    assert not file.parent.exists()


def test_a_snapshot_of_another_layout_is_refused() -> None:
    snapshot = make("loaded")
    changed = snapshot.manifest.model_copy(update={"version": 2})
    write_manifest(snapshot.folder, changed)
    with pytest.raises(LabError, match="made by another labctl"):
        find_snapshot("loaded")


@pytest.mark.parametrize(("newer", "age"), [(1, "a newer"), (-1, "an older")])
def test_a_snapshot_of_a_lab_of_another_labctl_is_refused(newer: int, age: str) -> None:
    snapshot = make("loaded")
    changed = snapshot.manifest.model_copy(update={"state_version": STATE_VERSION + newer})
    with pytest.raises(LabError, match=f"{age} labctl"):
        check_versions(replace(snapshot, manifest=changed), BUILDS)


def test_a_damaged_file_and_another_version_are_found_before_anything_is_replaced() -> None:
    snapshot = make("loaded")
    check_versions(snapshot, BUILDS)
    check_files(snapshot)
    with pytest.raises(LabError, match="other versions") as error:
        check_versions(snapshot, {"postgres": "19.1", "mysql": "9.7"})
    assert error.value.details == (
        "mysql: none in the snapshot, 9.7 here",
        "postgres: 18.6 in the snapshot, 19.1 here",
    )
    (snapshot.folder / "data" / "file").write_text("rowz", encoding="utf-8")
    with pytest.raises(LabError, match="data/file has another checksum"):
        check_files(snapshot)


@pytest.mark.parametrize("done", [(), ("data",), ("data", "secrets")])
@pytest.mark.parametrize("aside", [False, True])
def test_an_interrupted_restore_is_completed(done: tuple[str, ...], aside: bool) -> None:
    """Each step of it may have been the last: folders moved aside, and those put in place."""
    state = LabState("shop")
    state.save(name="shop", ports={"postgres": {"sql": 1}})
    whole = state.folder / RESTORING
    for part in ("data", "secrets"):
        (whole / part).mkdir(parents=True)
        (whole / part / "file").write_text("restored", encoding="utf-8")
        (state.folder / part).mkdir()
        (state.folder / part / "file").write_text("old", encoding="utf-8")
    (whole / "restored.json").write_text(json.dumps({"seeded": {"tickit": {}}}), encoding="utf-8")
    for part in done:
        shutil.move(state.folder / part, state.folder / f".{part}.1")
        shutil.move(whole / part, state.folder / part)
    if aside and len(done) < 2:
        part = "secrets" if done else "data"
        shutil.move(state.folder / part, state.folder / f".{part}.1")

    assert finish_restore(state)

    for part in ("data", "secrets"):
        assert (state.folder / part / "file").read_text(encoding="utf-8") == "restored"
    assert state.load()["seeded"] == {"tickit": {}}
    assert state.load()["ports"] == {"postgres": {"sql": 1}}
    left = {path.name for path in Path(state.folder).iterdir()}
    assert left == {"data", "secrets", "lab.json"}
    assert not finish_restore(state)


class Services:
    """A runtime without services, which is asked to end them."""

    ended = 0
    files = SimpleNamespace(require=lambda: None)

    def shutdown(self) -> None:
        self.ended += 1


def a_lab() -> Lab:
    """A lab with data of its own, and no services."""
    state = LabState("shop")
    shutil.rmtree(state.folder, ignore_errors=True)
    state.save(name="shop", ports={"postgres": {"sql": 1}})
    for part in ("data", "secrets"):
        (state.folder / part).mkdir(exist_ok=True)
        (state.folder / part / "file").write_text("own", encoding="utf-8")
    made = SimpleNamespace(state=state, runtime=Services(), services=(), running=False, name="shop")
    made.require_here = lambda: made
    return cast("Lab", made)


def held(lab: Lab) -> set[str]:
    return {(lab.state.folder / part / "file").read_text("utf-8") for part in ("data", "secrets")}


def test_a_snapshot_of_someone_else_is_restored_when_it_is_trusted() -> None:
    lab, snapshot = a_lab(), make("loaded", builds={})
    (snapshot_home().parent / ".snapshot-key").unlink()
    for other in ("first", "second"):
        with pytest.raises(LabError, match="was not saved here") as caught:
            restore_snapshot(lab, snapshot)
        assert "--trust" in (caught.value.hint or "")
        assert held(lab) == {"own"}
        make(other)  # the first makes another key
    restore_snapshot(lab, snapshot, trusted=True)
    assert held(lab) == {"rows"}
    # Now it has this user's signature.
    restore_snapshot(lab, snapshot)
    with (snapshot.folder / MANIFEST).open("a") as manifest:
        manifest.write(" ")
    with pytest.raises(LabError, match="was not saved here"):
        restore_snapshot(lab, snapshot)


def test_the_key_is_private_and_is_in_no_snapshot() -> None:
    snapshot = make("loaded")
    key = snapshot_home().parent / ".snapshot-key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(key.read_text()) == 64
    assert not list(snapshot_home().rglob(key.name))
    assert snapshot.is_own


@pytest.mark.parametrize(
    ("spoil", "problem"),
    [
        (lambda data: (data / "in").symlink_to("/etc"), "data/in, a link, was added"),
        (lambda data: os.mkfifo(data / "in"), "data/in, a fifo, was added"),
        (lambda data: (data / "empty").mkdir(), "data/empty, a folder, was added"),
        (lambda data: os.link(data / "file", data / "in"), "data/in, a file, was added"),
        (lambda data: data.rename(data.with_name("x")).joinpath("../data").symlink_to("x"), "link"),
    ],
)
def test_a_snapshot_with_something_added_changes_nothing(
    spoil: Callable[[Path], None], problem: str
) -> None:
    lab, snapshot = a_lab(), make("loaded", builds={})
    spoil(snapshot.folder / "data")
    with pytest.raises(LabError, match="is damaged") as caught:
        restore_snapshot(lab, snapshot, trusted=True)
    assert problem in caught.value.what
    assert held(lab) == {"own"}
    assert cast("Services", lab.runtime).ended == 0
    assert {path.name for path in lab.state.folder.iterdir()} <= {
        *("data", "secrets", "logs", "lab.json", "lock")
    }


def test_killed_at_any_change_a_restore_is_completed_or_has_changed_nothing(
    state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    snapshot = make("loaded", builds={})
    seen = set()
    for number in kill_at_every_change(
        state_home, a_lab, lambda lab: restore_snapshot(lab, snapshot)
    ):
        state = LabState("shop")
        with state.changing():  # as `up` does
            finish_restore(state)
        lab = cast("Lab", SimpleNamespace(state=state))
        assert held(lab) in ({"own"}, {"rows"}), number
        seen |= held(lab)
        assert state.load()["ports"] == {"postgres": {"sql": 1}}
        assert bool(state.load().get("seeded")) == (held(lab) == {"rows"})
        left = {path.name for path in state.folder.iterdir() if not path.name.startswith(".lab")}
        assert left == {"data", "secrets", "logs", "lab.json", "lock"}, number
    assert seen == {"own", "rows"}


def test_killed_at_any_change_a_replaced_snapshot_is_the_old_or_the_new_one(
    state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    ended = subprocess.Popen(["true"])
    ended.wait()

    def prepare() -> Lab:
        shutil.rmtree(snapshot_home(), ignore_errors=True)
        make("loaded", "old", builds={})
        return a_lab()

    seen = set()
    for _ in kill_at_every_change(
        state_home, prepare, lambda lab: save_snapshot(lab, "loaded", replace=True)
    ):
        # This process lives on; one that was killed does not.
        for folder in snapshot_home().glob(f".*.{os.getpid()}"):
            folder.rename(folder.with_name(folder.name.replace(str(os.getpid()), str(ended.pid))))
        snapshot = find_snapshot("loaded")
        seen.add((snapshot.folder / "data" / "file").read_text())
        restore_snapshot(a_lab(), snapshot)
        remove_leftovers()
        assert [path.name for path in snapshot_home().iterdir()] == ["loaded"]
    assert seen == {"old", "own"}


def test_a_key_that_is_damaged_is_made_again() -> None:
    snapshot = make("loaded")
    (snapshot_home().parent / ".snapshot-key").write_text("", encoding="ascii")
    assert not snapshot.is_own
    snapshot.trust()
    assert snapshot.is_own


def test_a_full_disk_leaves_the_lab_as_it_was(tmp_path: Path) -> None:
    """The copy fails before anything of the lab is stopped."""
    program = """
import resource
from tests.unit.test_snapshots import a_lab, find_snapshot, held, restore_snapshot
from labctl.errors import LabError
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
lab = a_lab()
try:
    restore_snapshot(lab, find_snapshot("large"))
except LabError as error:
    print(error, held(lab), lab.runtime.ended, sorted(p.name for p in lab.state.folder.iterdir()))
"""
    del tmp_path
    make("large", "x" * 1_000_000, builds={})
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert "could not be copied" in done.stdout
    assert "make room on that disk" in done.stdout
    assert "{'own'} 0 ['data', 'lab.json', 'lock', 'logs', 'secrets']" in done.stdout
