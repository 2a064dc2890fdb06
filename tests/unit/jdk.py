"""The compiler that jars of the repository are made with."""

from __future__ import annotations

import shutil
import subprocess

import pytest

__all__ = ["needs_jdk_17"]


def _is_jdk_17() -> bool:
    """The compiler of another version writes other bytes."""
    if shutil.which("javac") is None or shutil.which("jar") is None:
        return False
    version = subprocess.run(["javac", "-version"], capture_output=True, text=True, check=True)
    return version.stdout.startswith("javac 17.")


needs_jdk_17 = pytest.mark.skipif(not _is_jdk_17(), reason="needs a JDK 17")
