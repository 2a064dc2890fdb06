"""The build context of the Spark application's image."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import labctl
import lakeapi
import lakecontract
import seeds
import sqlapi
from labctl.application import PACKAGE, shipped_package
from labctl.shipped import IN_WHEEL, shipped

__all__ = ["SOURCES", "contents", "source_digest", "sources"]

SOURCES = (
    "requirements.lock",
    "labctl",
    "seeds",
    "sqlapi",
    "lakeapi",
    "lakecontract",
    "spark/lakehouse",
    "spark/silver.py",
    "spark/spark-defaults.conf",
    "spark/log4j2.properties",
    ".dockerignore",
)
"""The image's content, as paths in the repository."""
_PACKAGES = {
    **{p.__name__: Path(p.__path__[0]) for p in (labctl, seeds, sqlapi, lakeapi, lakecontract)},
    f"spark/{PACKAGE}": shipped_package(),
}


def sources(work: Path) -> Path:
    """Return a folder with `SOURCES`: the checkout, else a copy of installed files in `work`."""
    if not IN_WHEEL.is_dir():
        return shipped("")
    work.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=work, prefix="sources-") as folder:
        copy = Path(folder, "copy")
        for name in SOURCES:
            _copy(name, copy / name)
        shutil.copytree(shipped("compose/images/silver"), copy / "compose/images/silver")
        # The name contains a digest, so that another version of labctl gets another folder.
        target = work / f"sources-{source_digest(copy)}"
        if not target.is_dir():
            copy.rename(target)
    return target


def _copy(name: str, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if package := _PACKAGES.get(name):
        # Leave out the wheel's copy of the repository's files: they have their own paths.
        ignored = shutil.ignore_patterns("__pycache__", IN_WHEEL.name)
        shutil.copytree(package, target, ignore=ignored)
    else:
        shutil.copy(shipped(name), target)


def source_digest(root: Path) -> str:
    """Return a digest that changes with the Spark application image's content."""
    digest = hashlib.sha256()
    for source in (*SOURCES, "compose/images/silver"):
        for part in contents(root / source):
            digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:12]


def contents(path: Path) -> Iterator[bytes]:
    """Yield names and contents of a file or of all files below a folder."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for file in files:
        if "__pycache__" not in file.parts:
            yield str(file.relative_to(path.parent)).encode()
            yield file.read_bytes()
