"""Recognising what the machine has already, by what programs on the PATH say of themselves."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labctl.artifacts import system
from labctl.artifacts.system import SystemTool

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program that answers every call with the same banner on an otherwise empty PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)

    def put(name: str, banner: str, *, status: int = 0, home: Path | None = None) -> Path:
        path = (home / "bin" if home else folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{banner}' >&2\nexit {status}\n")
        path.chmod(0o755)
        return path

    return put


@pytest.mark.parametrize("version", ["17.0.9", "17", "21.0.1-ea"])
def test_takes_a_suitable_java(install: Install, version: str) -> None:
    path = install("java", f'Picked up JAVA_TOOL_OPTIONS: -X\nopenjdk version "{version}"')
    assert system.find_java() == SystemTool(path, version)


@pytest.mark.parametrize("version", ["1.8.0_392", "11.0.2", "16", "22", "25.0.1"])
def test_leaves_a_java_that_kafka_or_spark_cannot_use(install: Install, version: str) -> None:
    install("java", f'openjdk version "{version}"')
    assert system.find_java() is None


def test_prefers_java_home(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("java", 'openjdk version "17.0.1"')
    path = install("java", 'openjdk version "21.0.2"', home=tmp_path / "jdk")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert system.find_java() == SystemTool(path, "21.0.2")


def test_looks_on_the_path_when_java_home_is_too_old(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = install("java", 'openjdk version "17.0.1"')
    install("java", 'openjdk version "11.0.2"', home=tmp_path / "jdk")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    assert system.find_java() == SystemTool(path, "17.0.1")


def test_leaves_a_program_that_fails(install: Install) -> None:
    install("java", 'openjdk version "17.0.1"', status=1)
    assert system.find_java() is None


def test_takes_mysql_8_and_newer(install: Install) -> None:
    path = install("mysqld", "/usr/sbin/mysqld  Ver 8.4.3 for Linux on x86_64")
    assert system.find_mysqld() == SystemTool(path, "8.4.3")


@pytest.mark.parametrize(
    "banner",
    [
        "mysqld  Ver 5.7.44 for Linux on x86_64",
        "mysqld  Ver 10.11.6-MariaDB-0+deb12u1 for debian-linux-gnu",
        "something else",
    ],
)
def test_leaves_an_older_or_other_database(install: Install, banner: str) -> None:
    install("mysqld", banner)
    assert system.find_mysqld() is None


def test_takes_minio(install: Install) -> None:
    path = install("minio", "minio version RELEASE.2025-01-01T00-00-00Z (commit-id=1)")
    assert system.find_minio() == SystemTool(path, "RELEASE.2025-01-01T00-00-00Z")


def test_leaves_a_minio_that_says_something_else(install: Install) -> None:
    install("minio", "usage: minio [file]")
    assert system.find_minio() is None


@pytest.mark.parametrize(
    ("version", "taken"), [("1.24", True), ("1.24.8", True), ("1.100.1", True), ("1.23.9", False)]
)
def test_takes_go_from_the_oldest_release_on(install: Install, version: str, taken: bool) -> None:
    install("go", f"go version go{version} linux/amd64")
    assert (system.find_go("1.24") is not None) is taken


@pytest.mark.usefixtures("install")
def test_finds_nothing_on_a_bare_machine() -> None:
    assert system.find_java() is None
    assert system.find_mysqld() is None
    assert system.find_minio() is None
    assert system.find_go("1.24") is None
