"""Snapshots by name, and restores that are interrupted or refused."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from labctl.errors import ExitCode, LabError
from labctl.home.state import STATE_VERSION, LabState
from labctl.lab.snapshots import (
    delete_snapshot,
    find_snapshot,
    finish_restore,
    remove_leftovers,
    snapshots,
)
from labctl.lab.snapshots.files import read_records
from labctl.lab.snapshots.restoring import WHOLE, check_files, check_versions
from labctl.lab.snapshots.store import MANIFEST, Manifest, Snapshot, snapshot_home, write_manifest

pytestmark = pytest.mark.usefixtures("state_home")
BUILDS = {"postgres": "18.6"}


def make(name: str, text: str = "rows") -> Snapshot:
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
        builds=BUILDS,
        files=read_records(folder),
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
    whole = state.folder / WHOLE
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
