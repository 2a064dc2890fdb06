"""The entry point of a worker, in a module that is cheap to import for the service."""

from __future__ import annotations

from multiprocessing.connection import Connection
from pathlib import Path

from sqlapi.workers.jobs import Setup

__all__ = ["enter"]


def enter(connection: Connection, setup: Setup, folder: Path) -> None:
    """Run as a worker; the process that it is forked from has imported its modules."""
    from sqlapi.workers.worker import work

    work(connection, setup, folder)
