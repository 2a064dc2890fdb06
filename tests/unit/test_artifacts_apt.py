"""Machines that Debian packages cannot be fetched on."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.artifacts.apt import Apt, archive_address
from labctl.errors import ExitCode, LabError
from tests.unit.artifacts_support import make_job


def test_says_what_to_install_where_there_is_no_apt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LabError, match="MySQL cannot be fetched: this machine has no") as caught:
        Apt(make_job(tmp_path / "work"), "unstable")
    assert caught.value.hint == "install MySQL 8 or newer so that `mysqld` is on the PATH"
    assert caught.value.exit_code == ExitCode.ENVIRONMENT


def test_the_archive_is_the_one_of_the_release_not_of_its_security_updates() -> None:
    sources = "stable-security|main|security\nstable|contrib|other\nstable|main|archive\n"
    assert archive_address(sources) == "archive"


def test_sources_without_debian_have_no_archive() -> None:
    assert archive_address("") is None
    assert archive_address("jammy|main|elsewhere\n") is None
