"""A snapshot's files: copied whole, known by checksum, shared where they did not change."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from labctl.errors import ExitCode, LabError
from labctl.lab.snapshots.snapshot_files import (
    copy_folder,
    forget_processes,
    link_unchanged,
    read_entries,
    read_records,
    unlike,
    unlike_entries,
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    (folder / "postgres" / "base").mkdir(parents=True)
    (folder / "postgres" / "base" / "1").write_bytes(b"rows")
    (folder / "postgres" / "postmaster.pid").write_text("4711", encoding="utf-8")
    (folder / "postgres" / "base" / "1").chmod(0o644)
    (folder / "empty").mkdir()
    return folder


def test_a_copy_has_all_files_and_is_told_from_one_that_has_not(data: Path, tmp_path: Path) -> None:
    records = read_records(data)
    copy_folder(data, tmp_path / "copy")
    assert (tmp_path / "copy" / "empty").is_dir()
    assert unlike(tmp_path / "copy", records) is None


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda file: file.write_bytes(b"rowz"), "postgres/base/1 has another checksum"),
        (lambda file: file.write_bytes(b"row"), "postgres/base/1 has another size"),
        (lambda file: file.unlink(), "postgres/base/1 is missing"),
        (lambda file: file.with_name("2").touch(), "postgres/base/2 was added"),
    ],
)
def test_damage_is_named(data: Path, damage: object, problem: str) -> None:
    records = read_records(data)
    assert callable(damage)
    damage(data / "postgres" / "base" / "1")
    assert unlike(data, records) == problem


def test_holes_stay_holes(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    with (tmp_path / "data" / "index").open("wb") as handle:
        handle.truncate(64 * 1024**2)
    copy_folder(tmp_path / "data", tmp_path / "copy")
    assert (tmp_path / "copy" / "index").stat().st_blocks == 0


def test_a_folder_that_cannot_be_copied_is_said(data: Path, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="could not be copied") as error:
        copy_folder(data, tmp_path / "none" / "copy")
    assert error.value.exit_code is ExitCode.ENVIRONMENT
    assert error.value.details


def test_files_by_which_a_process_holds_its_data_are_left_out(data: Path) -> None:
    os.mkfifo(data / "postgres" / "base" / "fifo")
    forget_processes(data)
    assert sorted(read_records(data)) == ["postgres/base/1"]
    assert not (data / "postgres" / "base" / "fifo").exists()


def test_only_what_did_not_change_is_shared_with_an_earlier_snapshot(
    data: Path, tmp_path: Path
) -> None:
    (data / "changed").write_bytes(b"before")
    copy_folder(data, tmp_path / "first")
    (data / "changed").write_bytes(b"after!")
    copy_folder(data, tmp_path / "second")
    first, second = read_records(tmp_path / "first"), read_records(tmp_path / "second")

    saved = link_unchanged(tmp_path / "second", second, [(tmp_path / "first", first)])

    assert saved == len(b"rows") + len(b"4711")
    shared = tmp_path / "second" / "postgres" / "base" / "1"
    assert shared.samefile(tmp_path / "first" / "postgres" / "base" / "1")
    assert (tmp_path / "first" / "changed").read_bytes() == b"before"
    assert unlike(tmp_path / "second", second) is None


def test_files_of_another_mode_are_not_shared(data: Path, tmp_path: Path) -> None:
    copy_folder(data, tmp_path / "first")
    (data / "postgres" / "base" / "1").chmod(0o600)
    copy_folder(data, tmp_path / "second")
    (tmp_path / "first" / "postgres" / "base" / "1").chmod(0o640)
    records = read_records(tmp_path / "first")
    link_unchanged(tmp_path / "second", records, [(tmp_path / "first", records)])
    assert (tmp_path / "second" / "postgres" / "base" / "1").stat().st_mode & 0o777 == 0o600


def test_what_is_stored_once_is_restored_as_files_of_their_own(data: Path, tmp_path: Path) -> None:
    twin = Path("postgres", "base", "2")
    (data / twin).write_bytes(b"rows")
    copy_folder(data, tmp_path / "first")
    copy_folder(data, tmp_path / "second")
    records = read_records(tmp_path / "second")
    link_unchanged(tmp_path / "second", records, [(tmp_path / "first", records)])
    assert (tmp_path / "second" / twin).samefile(tmp_path / "second" / twin.with_name("1"))

    copy_folder(tmp_path / "second", tmp_path / "restored")

    (tmp_path / "restored" / twin).write_bytes(b"changed")
    assert (tmp_path / "restored" / twin.with_name("1")).read_bytes() == b"rows"
    assert unlike(tmp_path / "second", records) is None


@pytest.mark.parametrize(
    ("add", "problem"),
    [
        (lambda file: file.symlink_to("/etc/passwd"), "postgres/added, a link, was added"),
        (lambda file: file.symlink_to("."), "postgres/added, a link, was added"),
        (os.mkfifo, "postgres/added, a fifo, was added"),
        (lambda file: os.mknod(file, stat.S_IFSOCK | 0o600), "a socket, was added"),
        (lambda file: file.mkdir(), "postgres/added, a folder, was added"),
        (lambda file: os.link(file.with_name("base") / "1", file), "a file, was added"),
        (lambda file: file.with_name("base").chmod(0o777), "base is a folder of mode 0777"),
        (lambda file: (file.parent / "base" / "1").chmod(0o4755), "1 is a file of mode 4755"),
    ],
)
def test_whatever_was_added_is_named(
    data: Path, add: Callable[[Path], object], problem: str
) -> None:
    entries = read_entries(data)
    assert unlike_entries(data, entries) is None
    add(data / "postgres" / "added")
    assert problem in (unlike_entries(data, entries) or "")


def test_a_file_that_became_a_link_to_its_own_content_is_named(data: Path, tmp_path: Path) -> None:
    entries = read_entries(data)
    (data / "postgres" / "base" / "1").rename(tmp_path / "elsewhere")
    (data / "postgres" / "base" / "1").symlink_to(tmp_path / "elsewhere")
    assert unlike_entries(data, entries) == (
        f"postgres/base/1 is a link to {tmp_path / 'elsewhere'}, and was a file of mode 0644"
    )
