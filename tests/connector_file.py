"""Connector files of a test's own copy of the project, changed."""

from __future__ import annotations

import json
from pathlib import Path


def raise_by_one(file: Path, key: str) -> tuple[str, str]:
    """Write a connector file with the number at `key` larger by one; (before, after)."""
    settings: dict[str, str] = json.loads(file.read_text())
    before = settings[key]
    after = str(int(before) + 1)
    file.write_text(json.dumps(settings | {key: after}, indent=2) + "\n")
    return before, after
