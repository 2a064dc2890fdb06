"""A copy of the project, and profiles that differ from the example in one place."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from labctl.config.lab_config import LabConfig, find_project
from labctl.promote import Promotion, load_promotion

Promote = Callable[..., Promotion]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """What a promotion reads, in a folder of its own."""
    original = find_project(Path(__file__))
    folder = tmp_path / "project"
    folder.mkdir()
    for name in ("lab.toml", "requirements.lock"):
        shutil.copy(original / name, folder)
    for name in ("connectors", "gold", "queries", "spark"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(original / name, folder / name, ignore=ignored)
    return folder


@pytest.fixture
def promote(project: Path) -> Promote:
    """`promote({"msk.brokers": 3})`: the example's promotion with other values; None removes.

    `lab` are such values of `lab.toml` itself: `{"api.enabled": True}`.
    """

    def build(
        changes: dict[str, Any] | None = None, lab: dict[str, Any] | None = None
    ) -> Promotion:
        data = tomllib.loads((project / "lab.toml").read_text(encoding="utf-8"))
        of_profile = {f"profiles.aws.{key}": value for key, value in (changes or {}).items()}
        for key, value in {**of_profile, **(lab or {})}.items():
            section = data
            *path, last = key.split(".")
            for part in path:
                section = section.setdefault(part, {})
            if value is None:
                section.pop(last, None)
            else:
                section[last] = value
        return load_promotion(project, LabConfig.model_validate(data), "aws")

    return build
