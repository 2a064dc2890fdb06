"""Puts what labctl needs besides its packages into the wheel, below `labctl/shipped/files`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = (
    ".dockerignore",
    "compose",
    "connectors",
    "gold",
    "lab.toml",
    "labs",
    "notebooks",
    "queries",
    "requirements-dev.lock",
    "requirements.lock",
    "scenarios",
    "spark/log4j2.properties",
    "spark/properties",
    "spark/silver.py",
    "spark/spark-defaults.conf",
)
NOT_SHIPPED = {"secrets", ".ipynb_checkpoints"}
"""Folders that `docker compose up` and JupyterLab make in a checkout."""


class ShippedFiles(BuildHookInterface[Any]):
    """A source archive has them where a checkout does, so that a wheel can be built from it.

    An editable install needs none of them: `labctl.shipped` finds the repository's.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        below = "" if self.target_name == "sdist" else "labctl/shipped/files/"
        for name in SHIPPED:
            path = root / name
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                inside = file.relative_to(root)
                if file.is_file() and not NOT_SHIPPED & set(inside.parts):
                    build_data["force_include"][str(file)] = f"{below}{inside}"
