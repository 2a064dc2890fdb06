"""Programs that the machine may already have, recognised by running them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["SystemTool", "find_go", "find_java", "find_minio", "find_mysql", "find_mysqld"]

JAVA_MAJORS = range(17, 22)
"""Supported Java versions: Kafka 4 needs Java 17, and Spark 3.5 supports none newer than 21."""
MYSQL_MAJOR = 8
PROBE_SECONDS = 20


@dataclass(frozen=True)
class SystemTool:
    """A program of this machine that is used instead of a fetched artefact."""

    path: Path
    version: str


def find_java() -> SystemTool | None:
    """Return `$JAVA_HOME/bin/java` or `java` on the PATH if its version suits Kafka and Spark."""
    home = os.environ.get("JAVA_HOME")
    candidates = [str(Path(home) / "bin" / "java")] if home else []
    for candidate in (*candidates, "java"):
        path = shutil.which(candidate)
        found = path and re.search(r'version "((\d+)[^"]*)"', _output([path, "-version"]))
        if path and found and int(found[2]) in JAVA_MAJORS:
            return SystemTool(Path(path), found[1])
    return None


def find_mysqld() -> SystemTool | None:
    """Return `mysqld` on the PATH if it is MySQL (not MariaDB) of at least version 8."""
    return _of_mysql("mysqld")


def find_mysql() -> SystemTool | None:
    """Return `mysql`, the client, on the PATH under the same condition."""
    return _of_mysql("mysql")


def _of_mysql(program: str) -> SystemTool | None:
    path = shutil.which(program)
    if not path:
        return None
    output = _output([path, "--version"])
    found = re.search(r"Ver ((\d+)\.\S+)", output)
    if not found or int(found[2]) < MYSQL_MAJOR or "mariadb" in output.lower():
        return None
    return SystemTool(Path(path), found[1])


def find_minio() -> SystemTool | None:
    """Return `minio` on the PATH if its version output is that of the MinIO server."""
    path = shutil.which("minio")
    found = path and re.search(r"^minio version (\S+)", _output([path, "--version"]), re.MULTILINE)
    return SystemTool(Path(path), found[1]) if path and found else None


def find_go(oldest: str) -> SystemTool | None:
    """Return `go` on the PATH if it is at least release `oldest`, such as "1.24"."""
    path = shutil.which("go")
    found = path and re.search(r"\bgo(\d+\.\d+(?:\.\d+)?)", _output([path, "version"]))
    if not path or not found or _numbers(found[1]) < _numbers(oldest):
        return None
    return SystemTool(Path(path), found[1])


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _output(argv: Sequence[str]) -> str:
    """Return the program's output; "" if it fails or does not run."""
    try:
        process = subprocess.run(
            argv, capture_output=True, timeout=PROBE_SECONDS, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return (
        (process.stdout + process.stderr).decode(errors="replace") if not process.returncode else ""
    )
