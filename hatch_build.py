"""Puts what labctl needs besides its packages into the wheel, below `labctl/shipped/files`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SHIPPED = (
    ".dockerignore",
    "compose",
    "connectors",
    "docs/*.md",
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
            paths = root.glob(f"{name}/**/*" if (root / name).is_dir() else name)
            for file in sorted(paths):
                inside = file.relative_to(root)
                if file.is_file() and not NOT_SHIPPED & set(inside.parts):
                    build_data["force_include"][str(file)] = f"{below}{inside}"
