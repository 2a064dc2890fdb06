"""Puts into the wheel what labctl needs besides its packages, below `labctl/shipped/files`."""

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
    "queries",
    "requirements-dev.lock",
    "requirements.lock",
    "scenarios",
    "spark/log4j2.properties",
    "spark/properties",
    "spark/silver.py",
    "spark/spark-defaults.conf",
)


class ShippedFiles(BuildHookInterface[Any]):
    """An editable install needs none of them: `labctl.shipped` finds the repository's."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        for name in SHIPPED:
            path = root / name
            for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
                inside = file.relative_to(root)
                # `docker compose up` in a checkout makes compose/secrets.
                if file.is_file() and "secrets" not in inside.parts:
                    build_data["force_include"][str(file)] = f"labctl/shipped/files/{inside}"
