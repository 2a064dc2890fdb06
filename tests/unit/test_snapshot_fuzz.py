"""A snapshot's folder and manifest after edits of any kind: refused, unless nothing has changed.

`LABCTL_FUZZ_EXAMPLES` sets how many are tried, and `LABCTL_FUZZ_SEED` repeats a run.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from labctl.errors import LabError
from labctl.lab.snapshots.restoring import check_entries, check_files
from labctl.lab.snapshots.snapshot_files import read_entries, read_records
from labctl.lab.snapshots.snapshot_store import (
    MANIFEST,
    Snapshot,
    find_snapshot,
    snapshot_home,
    write_manifest,
)
from tests.unit.test_inputs_fuzz import EXAMPLES, SEED, spoiled
from tests.unit.test_snapshots import make

EDITS = ("file", "folder", "link", "fifo", "hard link", "mode", "byte", "cut", "remove", "to link")
PLACES = ("data/file", "data/in/deep", "secrets/file", "data/new", "data/in/new", "secrets/new")
limits = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def described(top: Path) -> dict[str, tuple[object, ...]]:
    """Everything of a snapshot that a restore copies, told in another way than labctl does."""
    found: dict[str, tuple[object, ...]] = {}
    for part in ("data", "secrets"):
        for path in (top / part).rglob("*"):
            mode = path.lstat().st_mode
            content = path.read_bytes() if stat.S_ISREG(mode) else None
            target = path.readlink() if stat.S_ISLNK(mode) else None
            found[str(path)] = (stat.S_IFMT(mode), content, target, mode if not target else 0)
    return found


def edit(top: Path, kind: str, place: str, number: int) -> None:
    path = top / place
    is_there = os.path.lexists(path)
    is_file = path.is_file() and not path.is_symlink()
    match kind:
        case "file" if not is_there:
            path.touch()
        case "folder" if not is_there:
            path.mkdir()
        case "link" if not is_there:
            path.symlink_to(("file", ".", "/etc", "/dev/zero", "none")[number % 5])
        case "fifo" if not is_there:
            os.mkfifo(path)
        case "hard link" if not is_there and (top / "secrets" / "file").is_file():
            os.link(top / "secrets" / "file", path)
        case "mode" if is_there and not path.is_symlink():
            path.chmod(number % 0o10000 | 0o700)
        case "byte" if is_file and path.stat().st_size:
            content = bytearray(path.read_bytes())
            content[number % len(content)] ^= number % 256
            path.write_bytes(content)
        case "cut" if is_file:
            os.truncate(path, number % 8)
        case "remove" if is_file or path.is_symlink() or path.is_fifo():
            path.unlink()
        case "to link" if is_file:
            shutil.copy2(path, top / "elsewhere")
            path.unlink()
            path.symlink_to(top / "elsewhere")


def fresh() -> Snapshot:
    shutil.rmtree(snapshot_home(), ignore_errors=True)
    snapshot = make("loaded")
    (snapshot.folder / "data" / "in").mkdir()
    (snapshot.folder / "data" / "in" / "deep").write_bytes(b"deep")
    changed = {"files": read_records(snapshot.folder), "entries": read_entries(snapshot.folder)}
    write_manifest(snapshot.folder, snapshot.manifest.model_copy(update=changed))
    return find_snapshot("loaded")


@pytest.fixture(autouse=True)
def on_no_disk(state_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del state_home
    monkeypatch.setattr(os, "fsync", lambda _: None)


def test_a_changed_folder_is_refused_and_an_unchanged_one_is_not() -> None:
    print(f"LABCTL_FUZZ_SEED={SEED}")

    @seed(SEED)
    @limits
    @given(
        edits=st.lists(
            st.tuples(st.sampled_from(EDITS), st.sampled_from(PLACES), st.integers(0, 2**16)),
            max_size=4,
        )
    )
    def check(edits: list[tuple[str, str, int]]) -> None:
        snapshot = fresh()
        before = described(snapshot.folder)
        for each in edits:
            edit(snapshot.folder, *each)
        try:
            check_entries(snapshot)
            check_files(snapshot)
        except LabError as error:
            assert "is damaged" in error.what
            assert described(snapshot.folder) != before
        else:
            assert described(snapshot.folder) == before

    check()


def test_a_changed_manifest_is_refused_or_not_this_users() -> None:
    print(f"LABCTL_FUZZ_SEED={SEED}")
    good = (fresh().folder / MANIFEST).read_bytes()

    @seed(SEED)
    @limits
    @given(content=spoiled(good))
    def check(content: bytes) -> None:
        (snapshot_home() / "loaded" / MANIFEST).write_bytes(content)
        try:
            snapshot = find_snapshot("loaded")
        except LabError:
            return
        assert snapshot.is_own == (content == good)

    check()
