"""Installing trees whole, and noticing what happens to them afterwards."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from labctl.artifacts.job import CancelledError, Provenance
from labctl.artifacts.tree import Stamp, damage, publish, read_stamp, write_stamp
from tests.unit.artifacts_support import make_job

PROVENANCE = Provenance("1.0")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """An installed tree with a file, an executable in a folder and a link."""
    job = make_job(tmp_path / "work")
    (job.tree / "readme").write_text("hello")
    (job.tree / "bin").mkdir()
    (job.tree / "bin" / "run").write_text("#!/bin/sh\n")
    (job.tree / "bin" / "run").chmod(0o755)
    (job.tree / "link").symlink_to("readme")
    target = tmp_path / "artifacts" / "part" / "digest"
    publish(job, PROVENANCE, target)
    return target


def stamp_of(tree: Path) -> Stamp:
    stamp = read_stamp(tree)
    assert stamp is not None
    return stamp


def test_is_complete_once_it_is_there(tree: Path) -> None:
    stamp = stamp_of(tree)
    assert [entry.path for entry in stamp.entries] == ["bin/run", "link", "readme"]
    assert (stamp.version, stamp.verified_by, stamp.note) == ("1.0", "lock", None)
    assert os.access(tree / "bin" / "run", os.X_OK)
    assert damage(tree, stamp, thorough=True) == []


def test_is_not_installed_without_its_stamp(tree: Path) -> None:
    tree.with_name("digest.json").unlink()
    assert read_stamp(tree) is None


def test_is_not_installed_with_half_a_stamp(tree: Path) -> None:
    path = tree.with_name("digest.json")
    path.write_text(path.read_text()[:40])
    assert read_stamp(tree) is None


def truncate(tree: Path) -> None:
    os.truncate(tree / "readme", 2)


def remove(tree: Path) -> None:
    (tree / "readme").unlink()


def rewrite(tree: Path) -> None:
    (tree / "readme").write_text("HELLO")
    os.utime(tree / "readme", ns=(0, 1))


def replace_by_link(tree: Path) -> None:
    (tree / "readme").unlink()
    (tree / "readme").symlink_to("bin/run")


@pytest.mark.parametrize("harm", [truncate, remove, rewrite, replace_by_link])
def test_notices_a_changed_file_without_reading_the_others(
    tree: Path, harm: Callable[[Path], None]
) -> None:
    harm(tree)
    assert damage(tree, stamp_of(tree), thorough=False) == ["readme"]


def test_notices_a_link_that_points_elsewhere(tree: Path) -> None:
    (tree / "link").unlink()
    (tree / "link").symlink_to("readmf")
    assert damage(tree, stamp_of(tree), thorough=False) == ["link"]


def test_a_silent_change_is_found_by_the_thorough_check_only(tree: Path) -> None:
    status = (tree / "readme").stat()
    (tree / "readme").write_text("HELLO")
    os.utime(tree / "readme", ns=(status.st_atime_ns, status.st_mtime_ns))
    assert damage(tree, stamp_of(tree), thorough=False) == []
    assert damage(tree, stamp_of(tree), thorough=True) == ["readme"]


def test_a_touched_file_is_read_and_found_good(tree: Path) -> None:
    (tree / "readme").touch()
    assert damage(tree, stamp_of(tree), thorough=False) == []


def test_reports_every_byte_it_checked(tree: Path) -> None:
    seen: list[int] = []
    damage(tree, stamp_of(tree), thorough=True, seen=seen.append)
    assert sum(seen) == stamp_of(tree).size


def test_a_stamp_survives_writing(tree: Path) -> None:
    damaged = stamp_of(tree).model_copy(update={"damaged": ("readme",)})
    write_stamp(tree, damaged)
    assert read_stamp(tree) == damaged


def test_replaces_what_was_there(tree: Path, tmp_path: Path) -> None:
    job = make_job(tmp_path / "again")
    (job.tree / "only").write_text("new")
    publish(job, Provenance("2.0", "archive", "because"), tree)
    assert [path.name for path in tree.iterdir()] == ["only"]
    stamp = stamp_of(tree)
    assert (stamp.version, stamp.verified_by, stamp.note) == ("2.0", "archive", "because")


def test_a_cancelled_job_publishes_nothing(tree: Path, tmp_path: Path) -> None:
    before = stamp_of(tree)
    job = make_job(tmp_path / "again")
    (job.tree / "only").write_text("new")
    job.cancelled.set()
    with pytest.raises(CancelledError):
        publish(job, PROVENANCE, tree)
    assert stamp_of(tree) == before
    assert (tree / "readme").exists()
