"""Statements, one per line in files `*.sql`, and what Trino answered to each (`trino.jsonl`)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

__all__ = ["ANSWERS", "Answer", "answers", "cases"]

_FOLDER = Path(__file__).parent
ANSWERS = _FOLDER / "trino.jsonl"
"""Written by `make trino-oracle`: Trino's version first, then an answer a line."""


@dataclass(frozen=True)
class Answer:
    """Types, and rows of the texts that Athena would show; or the name of an error."""

    types: tuple[str, ...] = ()
    rows: tuple[tuple[str | None, ...], ...] = ()
    error: str | None = None


def cases() -> list[str]:
    """All statements, each once. A line that begins with `--` is a comment."""
    lines = [line for file in sorted(_FOLDER.glob("*.sql")) for line in _lines(file)]
    return list(dict.fromkeys(line for line in lines if line and not line.startswith("--")))


def answers() -> dict[str, Answer]:
    """What Trino answered, by statement."""
    found = {}
    for line in _lines(ANSWERS)[1:]:
        said = json.loads(line)
        rows = tuple(tuple(row) for row in said.get("rows", ()))
        found[said["sql"]] = Answer(tuple(said.get("types", ())), rows, said.get("error"))
    return found


def _lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").removesuffix("\n").split("\n")
