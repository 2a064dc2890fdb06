"""Clients in environments of their own: their pins clash with the lab's packages.

`NAME.in` says what is installed, `NAME.lock` in which versions; it is made as the lab's own locks.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from labctl.artifacts import default_cache
from labctl.artifacts.locking import exclusive

__all__ = ["installed", "run"]

_BESIDE = Path(sys.executable).parent


def installed(name: str) -> Path:
    """The folder of programs of a client's environment; made once for all runs."""
    lock = Path(__file__).with_name(f"{name}.lock")
    digest = sha256(lock.read_bytes()).hexdigest()[:16]
    folder = default_cache() / "test-clients" / f"{name}-{digest}"
    whole = folder / "whole"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with exclusive(folder.parent / "lock", lambda: None):
        if not whole.exists():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            _install(folder / "bin" / "python", lock)
            whole.touch()
    return folder / "bin"


def _install(python: Path, lock: Path) -> None:
    """By uv, which takes seconds; where it reaches no packages, by pip (see the Makefile)."""
    index = os.environ.get("PIP_INDEX_URL")
    environment = {**os.environ, **({"UV_DEFAULT_INDEX": index} if index else {})}
    hashes = ("--require-hashes", "--requirement", str(lock))
    done = subprocess.run(
        [str(_BESIDE / "uv"), "pip", "install", "--quiet", "--python", str(python), *hashes],
        env=environment,
        check=False,
    )
    if done.returncode:
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *hashes], check=True)


def run(
    program: Path, *arguments: str, environment: Mapping[str, str], folder: Path
) -> subprocess.CompletedProcess[str]:
    """Runs a program in `folder`, which is its home, too, with nothing else in its environment."""
    return subprocess.run(
        [str(program), *arguments],
        env={"PATH": os.defpath, "HOME": str(folder), "LANG": "C.UTF-8", **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
