"""A worker: a process that does one job after another until the service ends it."""

from __future__ import annotations

import ctypes
import gc
import logging
import multiprocessing
import os
import re
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from sqlapi.source import SourceError
from sqlapi.sql.engine import Engine
from sqlapi.sql.statement_errors import SqlError
from sqlapi.workers.jobs import Answered, Begun, Call, Called, Failed, Job, Ready, Setup
from sqlapi.workers.limits import (
    MIB,
    limit_memory,
    mapped_bytes,
    prepare_process,
    private_bytes,
)
from sqlapi.workers.running import Jobs

__all__ = ["work"]

_GROWN = 96 * MIB
"""Bytes by which a worker may grow over its jobs; one that has grown more ends."""
_ALLOWED = 2
"""Factor of DuckDB's memory: the rest is for a query's tables and its strings."""
_KEPT_FREE = 16 * MIB
"""Bytes of growth from which free memory is returned after a job, since that takes time."""
_UNITS = {"kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30}
_UNKNOWN = "GENERIC_INTERNAL_ERROR"
log = logging.getLogger("sqlapi")


class _GivenUpError(Exception):
    """The service has dropped the job and knows why."""


def work(connection: Connection, setup: Setup, folder: Path) -> None:
    """Serve the service at `connection`; `folder` is this worker's own, for DuckDB's files."""
    prepare_process()
    os.chdir(folder)
    # Ctrl-C is for the service, which then ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():
        return
    engine = Engine(
        memory=setup.memory, threads=setup.threads, spill_folder=folder, spill=setup.spill
    )
    jobs = Jobs(setup, engine, _asking(connection))
    _give_back()
    allowed, at_first, mapped = _ALLOWED * _bytes(setup.memory), private_bytes(), mapped_bytes()
    limit_memory(allowed)
    is_sound = True
    try:
        # Address space that jobs have not returned counts, too; a new worker starts with all of it.
        while (
            is_sound
            and private_bytes() < at_first + _GROWN
            and mapped_bytes() < mapped + allowed // 2
        ):
            connection.send(Ready())
            job = connection.recv()
            connection.send(Begun())
            done = _done(jobs, job)
            connection.send(done)
            # After an internal error, the engine may refuse all later jobs.
            is_sound = not isinstance(done, Failed) or not _is_unknown(done.error)
            if private_bytes() > at_first + _KEPT_FREE:
                _give_back()
    except (EOFError, ConnectionError):
        # The service has ended.
        pass
    # Do not wait for the engine's threads.
    os._exit(0)


def _is_unknown(error: Exception | None) -> bool:
    return isinstance(error, SqlError) and error.kind == _UNKNOWN


def _done(jobs: Jobs, job: Job) -> Answered | Failed:
    try:
        return jobs.do(job)
    except _GivenUpError:
        return Failed(None)
    except (SqlError, SourceError) as error:
        return Failed(error)
    except (EOFError, ConnectionError):
        raise
    except Exception as error:
        log.exception("a job failed")
        message = f"{type(error).__name__}: {error}"
        return Failed(SqlError(_UNKNOWN, message))


def _asking(connection: Connection) -> Any:
    def ask(name: str, *arguments: Any) -> Any:
        connection.send(Call(name, arguments))
        answer: Called = connection.recv()
        if answer.gives_up:
            raise _GivenUpError
        if answer.error is not None:
            raise answer.error
        return answer.value

    return ask


def _give_back() -> None:
    """Return free memory to the system."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def _bytes(size: str) -> int:
    """Parse a size in DuckDB's notation. Raises ValueError for other strings."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmg]i?b)\s*", size, re.IGNORECASE)
    if not found:
        raise ValueError(f"not a size such as 512MB: {size}")
    return int(float(found[1]) * _UNITS[found[2].lower()])
