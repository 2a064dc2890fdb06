"""The licences of all parts that a lab fetches, and their tables in docs/licences.md."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import NamedTuple

from packaging.utils import canonicalize_name
from pydantic import BaseModel, ConfigDict

from labctl.artifacts.lock import GoArtifact, Lock, load_lock

__all__ = [
    "ROOT",
    "SHIPPED",
    "Licences",
    "Package",
    "Part",
    "fetched_images",
    "licence_said",
    "load_licences",
    "locked_packages",
    "locked_parts",
    "tables",
]

ROOT = Path(__file__).parents[1]
RECORD = Path(__file__).with_name("licences.toml")
SHIPPED = ROOT / "labctl" / "ui" / "static" / "vendor"
"""Folder of the files that others have written."""
_IMAGE = re.compile(
    r"^\s*(?:image|[A-Z_]+_(?:BASE|IMAGE)): \$\{[A-Z_]+:-([^}]+)\}"
    r"|^ARG [A-Z_]+=((?!\$)[^\s]*[:/][^\s]+)",
    re.MULTILINE,
)
_PIN = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;]+)", re.MULTILINE)


class Part(BaseModel):
    """A part: what it is, and its licence."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    licence: str
    """As SPDX writes it."""
    inside: str = ""
    """Parts inside it under a licence with conditions of its own; "" if none is known."""


class Shipped(Part):
    """A package of which files come with labctl."""

    version: str
    files: Mapping[str, str]
    """SHA-256 of each file, by its name in `SHIPPED`."""


class Licences(BaseModel):
    """The record, `licences.toml`. Names are those of lock, Compose file and requirements."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    parts: Mapping[str, Part]
    images: Mapping[str, Part]
    packages: Mapping[str, Part]
    """Only those that are not under a permissive licence."""
    shipped: Mapping[str, Shipped]
    """Packages by their names at npm."""


class Package(NamedTuple):
    """A Python package as a lock names it."""

    name: str
    version: str


def load_licences() -> Licences:
    """Read the record. Raise ValueError where it is not valid."""
    return Licences.model_validate(tomllib.loads(RECORD.read_text("utf-8")))


def locked_parts(lock: Lock | None = None) -> list[str]:
    """Return the artefacts of the lock, and what builds one: `minio`, `minio.toolchain`."""
    names = []
    for name, artifact in (lock or load_lock()).artifacts.items():
        names.append(name)
        if isinstance(artifact, GoArtifact):
            names.append(f"{name}.toolchain")
    return names


def locked_packages(path: Path = ROOT / "requirements-extras.lock") -> list[Package]:
    """Return the Python packages of labctl with its extras."""
    pins = _PIN.findall(path.read_text("utf-8"))
    return [Package(canonicalize_name(name), version) for name, version in pins]


def fetched_images() -> set[str]:
    """Images that Compose pulls, or that an image is built on: without tag and digest."""
    compose = ROOT / "compose"
    files = [*compose.glob("*.yaml"), *compose.glob("images/*/Dockerfile")]
    found = {
        one or other for file in files for one, other in _IMAGE.findall(file.read_text("utf-8"))
    }
    names = {re.sub(r"(@.*|:[^/]*)$", "", name.partition("@")[0]) for name in found}
    return {name for name in names if not name.startswith("labctl/")}


def licence_said(package: Package) -> str:
    """Return the licence that an installed package names; "" if that version is not installed."""
    try:
        said = metadata(package.name)
    except PackageNotFoundError:
        return ""
    if said["Version"] != package.version:
        return ""
    if expression := said["License-Expression"]:
        return str(expression)
    classifiers = said.get_all("Classifier") or []
    names = [one.rpartition(" :: ")[2] for one in classifiers if one.startswith("License ::")]
    return " AND ".join(names) or (said["License"] or "").strip().partition("\n")[0].strip()


def tables() -> dict[str, str]:
    """Return the tables of docs/licences.md, by the names of their blocks."""
    licences = load_licences()
    return {
        "licences-parts": _table("part", licences.parts),
        "licences-images": _table("image", licences.images),
        "licences-packages": _table("package", licences.packages),
        "licences-shipped": _table("package", licences.shipped),
    }


def _table(of: str, parts: Mapping[str, Part]) -> str:
    rows = [
        f"| `{name}` | {part.title} | {part.licence} | {part.inside} |"
        for name, part in parts.items()
    ]
    return "\n".join(
        (f"| {of} | what it is | licence | also inside |", "| --- | --- | --- | --- |", *rows)
    )
