"""What may be in a project where a file is expected: it is refused by name, and not waited for.

A project's folder can be one that several people write, or one that was unpacked from somewhere.
"""

from __future__ import annotations

import os
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from labctl.errors import LabError
from labctl.shipped import own_or_shipped
from lakecontract.errors import ConfigurationError
from lakecontract.sink_config import load_sink_config
from tests.unit.hanging import Watch
from tests.unit.test_inputs_fuzz import PROJECT, READERS, Read

SINK = PROJECT / "connectors" / "sink_connector_moma_kafka_s3.json"
EVERY_READER: dict[str, tuple[Path, Read]] = {
    **READERS,
    "sink JSON": (SINK, lambda path: load_sink_config(path, path.parent)),
}
"""The Spark application reads the sink's file as well."""
_HUGE = 4 * 1024**3
"""Bytes of a file with a hole: it takes no space."""
_ROOM = 512 * 1024**2
"""Bytes of address space that a reader gets beyond what the process has."""


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _terminal(path: Path) -> None:
    path.symlink_to("/dev/ptmx")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:  # the path of a test's folder is too long for a socket's
            listener.bind(f"/proc/self/fd/{here}/{path.name}")
        finally:
            os.close(here)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(_HUGE)


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


def _folder(path: Path) -> None:
    path.mkdir()


KINDS: dict[str, Callable[[Path], None]] = {
    "pipe": _pipe,
    "endless device": _endless,
    "terminal": _terminal,
    "socket": _socket,
    "4 GiB": _huge,
    "link to itself": _loop,
    "folder": _folder,
}


@contextmanager
def _little_memory() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reader", EVERY_READER)
def test_what_is_no_file_is_refused_by_name(reader: str, kind: str, tmp_path: Path) -> None:
    good, read = EVERY_READER[reader]
    path = tmp_path / good.name
    KINDS[kind](path)
    with _little_memory(), Watch().one(kind), pytest.raises((LabError, ConfigurationError)) as info:
        read(path)
    assert good.stem in str(info.value)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "link to itself"])
def test_a_projects_own_file_of_settings_is_a_file(kind: str, tmp_path: Path) -> None:
    KINDS[kind](tmp_path / "lab.toml")
    with Watch().one(kind), pytest.raises(LabError, match=r"lab\.toml cannot be read: "):
        own_or_shipped(tmp_path, "lab.toml")


def test_a_name_that_no_file_can_have_is_refused(tmp_path: Path) -> None:
    table = tmp_path / "a.properties"
    for name in ("a\0b", "x" * 5000, "../" * 3000 + "etc/passwd"):
        table.write_text(f"include={name}\n")
        with pytest.raises(ConfigurationError, match=r"cannot be read: .* includes it\)"):
            READERS["properties"][1](table)
