"""The folders that the application keeps in the lake besides bronze and silver."""

from __future__ import annotations

__all__ = ["OWN_FOLDERS"]

OWN_FOLDERS = (
    "bronze-beginnings",
    "bronze-positions",
    "bronze-topics",
    "checkpoints",
    "deadletter",
    "rebuild",
    "refill",
    "replay",
    "retire",
    "retired",
    "schemas",
)
"""The application's folders in the lake's bucket. Nobody else writes there."""
