"""Modules of workers, imported once by the process that workers are forked from."""

from __future__ import annotations

import atexit
import gc
import os

from sqlapi.pandas_left_out import leave_pandas_out

leave_pandas_out()

import hudi  # noqa: E402, F401 - sources read by it

import sqlapi.workers.worker  # noqa: E402, F401

# Pages of memory that no collection writes to stay shared with all workers.
gc.collect()
gc.freeze()
# Without the end of Python's interpreter, at which DuckDB reports the frozen objects as leaks.
atexit.register(os._exit, 0)
