"""A service's data folder is whole or not there, and is never deleted."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from labctl.engines.mysql import mysql_service as mysql
from labctl.errors import ExitCode, LabError
from labctl.services.data_folder import is_made, made_whole


def test_a_folder_has_its_name_once_it_is_whole_and_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: set[int] = set()
    monkeypatch.setattr(os, "fsync", lambda descriptor: synced.add(os.fstat(descriptor).st_ino))
    folder = tmp_path / "data" / "mysql"
    with made_whole(folder) as staged:
        (staged / "base").mkdir()
        (staged / "base" / "rows").write_text("x")
        assert not folder.exists()
    assert (folder / "base" / "rows").read_text() == "x"
    for path in (folder / "base" / "rows", folder / "base", folder, folder.parent):
        assert path.stat().st_ino in synced, path


def test_a_failure_or_an_interruption_leaves_no_folder(tmp_path: Path) -> None:
    folder = tmp_path / "mysql"
    left = tmp_path / "mysql.new" / "of a power cut"
    left.mkdir(parents=True)
    with pytest.raises(KeyboardInterrupt), made_whole(folder) as staged:
        assert not left.exists()
        (staged / "half").write_text("x")
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_data_without_its_mark_is_refused_and_kept(tmp_path: Path) -> None:
    assert not is_made(tmp_path / "none", "mark")
    assert not is_made(tmp_path, "mark"), "an empty folder"
    rows = tmp_path / "rows"
    rows.write_text("x")
    with pytest.raises(LabError, match="but not mark") as raised:
        is_made(tmp_path, "mark")
    assert raised.value.exit_code is ExitCode.ENVIRONMENT
    assert rows.exists()
    (tmp_path / "mark").touch()
    assert is_made(tmp_path, "mark")


def test_root_of_mysql_is_gone_before_the_server_listens() -> None:
    administrator, _, root, _ = mysql._initialise("secret").split(";\n")
    assert administrator.startswith("CREATE USER 'labctl_admin'")
    assert root == "DROP USER 'root'@'localhost'"
