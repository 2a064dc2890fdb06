"""Filling the source databases, and letting their changes flow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from labctl.kafkaconnect.apply import Applied
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors import apply_and_wait, lab_files
from labctl.lab.lab import Lab
from seeds.tickit.load import SeedResult, seed

__all__ = ["seed_lab"]


def seed_lab(
    lab: Lab,
    *,
    scale: float = 1.0,
    from_path: Path | None = None,
    reset: bool = False,
    connect: bool = True,
    progress: Callable[[str, str], None] = lambda _table, _what: None,
) -> tuple[SeedResult, list[Applied]]:
    """Load TICKIT, then apply the connectors (unless not `connect`).

    In this order, so that the first load reaches the topics as Debezium's snapshot.
    """
    result = seed(lab.endpoints, scale=scale, from_path=from_path, reset=reset, progress=progress)
    if not connect:
        return result, []
    client = connect_client(lab.endpoints.connect)
    return result, apply_and_wait(client, lab_files(lab))
