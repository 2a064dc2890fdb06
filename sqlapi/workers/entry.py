"""Where a worker begins: a module that costs the service nothing to import."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

from sqlapi.workers.jobs import Setup

__all__ = ["enter"]


def enter(connection: Connection, setup: Setup, folder: Path) -> None:
    """Be a worker; what it needs is imported by the process that it is forked from."""
    from sqlapi.workers.worker import work

    work(connection, setup, folder)
