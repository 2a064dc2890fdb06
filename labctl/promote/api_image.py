"""The lake API's image: its Dockerfile and every file copied into it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import requires
from pathlib import Path

import lakeapi
from labctl.promote.aws_names import Names
from labctl.promote.promotion import Promotion
from labctl.shipped import own_or_shipped

__all__ = ["API_IMAGE", "image", "image_files", "image_tag", "registry", "requirements"]

API_IMAGE = "api"
"""The folder of a plan that holds the image's build context."""
RECIPE = "compose/images/lakeapi/Dockerfile"
_BESIDE = ("boto3", "sqlglot", "starlette", "uvicorn")
"""Packages of labctl's own requirements that `lakeapi` needs besides its extra `lakeapi`."""
_NOT_SERVED = "locustfile.py"
_NAME = re.compile(r"^([A-Za-z0-9._-]+)==")
_WANTED_BY = re.compile(r"^\s+#(?: via)?\s+([A-Za-z0-9._-]+)")


def registry(promotion: Promotion) -> str:
    """Return the address of the account's own image registry."""
    profile = promotion.profile
    domain = "amazonaws.com.cn" if profile.partition == "aws-cn" else "amazonaws.com"
    return f"{profile.account}.dkr.ecr.{profile.region}.{domain}"


def image(promotion: Promotion) -> str:
    """Return the full name of the image that a task runs."""
    name = Names.of(promotion).api
    return f"{registry(promotion)}/{name}:{image_tag(promotion)}"


def image_tag(promotion: Promotion) -> str:
    """Return a tag derived from the image's content, so that a tag's content never changes."""
    digest = hashlib.sha256()
    for path, content in image_files(promotion).items():
        digest.update(f"{path} {hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()[:12]


def image_files(promotion: Promotion) -> dict[str, bytes]:
    """Return the files of the build context by their path in it."""
    package = Path(lakeapi.__path__[0])
    modules = (path for path in sorted(package.rglob("*.py")) if path.name != _NOT_SERVED)
    lock = own_or_shipped(promotion.project, "requirements.lock").read_text(encoding="utf-8")
    return {
        "Dockerfile": own_or_shipped(promotion.project, RECIPE).read_bytes(),
        **{f"lakeapi/{p.relative_to(package).as_posix()}": p.read_bytes() for p in modules},
        "requirements.txt": requirements(lock).encode(),
    }


def requirements(lock: str) -> str:
    """Return the entries of a pip-compile lock that the lake API needs, with their hashes."""
    entries = dict(_entries(lock))
    wanted = {name for name in (*_of_extra("lakeapi"), *_BESIDE) if name in entries}
    while more := {
        name
        for name, text in entries.items()
        if name not in wanted and not wanted.isdisjoint(_wanting(text))
    }:
        wanted |= more
    return "".join(text for name, text in entries.items() if name in wanted)


def _entries(lock: str) -> Iterator[tuple[str, str]]:
    """Yield the name and the lines of each package in the lock."""
    name, lines = "", [""]
    for line in lock.splitlines(keepends=True):
        if match := _NAME.match(line):
            if name:
                yield name, "".join(lines)
            name, lines = match[1].lower(), []
        lines.append(line)
    if name:
        yield name, "".join(lines)


def _wanting(entry: str) -> Iterator[str]:
    """Return the packages that need this one, according to the lock's comments."""
    return (match[1] for line in entry.splitlines() if (match := _WANTED_BY.match(line)))


def _of_extra(extra: str) -> Iterable[str]:
    for requirement in requires("labctl") or ():
        if requirement.endswith((f'extra == "{extra}"', f"extra == '{extra}'")):
            match = re.match(r"[A-Za-z0-9._-]+", requirement)
            assert match  # noqa: S101 - a requirement begins with a name
            yield match[0].lower()
