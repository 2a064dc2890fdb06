"""The workers' modules, imported once by the process that workers are forked from."""

from __future__ import annotations

import atexit
import gc
import os

from sqlapi.pandas_left_out import leave_pandas_out

leave_pandas_out()

import hudi  # noqa: E402, F401 - sources read by it

import sqlapi.workers.worker  # noqa: E402, F401

# Memory pages stay shared with all workers if no garbage collection writes to them.
gc.collect()
gc.freeze()
# Skip the interpreter's shutdown, at which DuckDB would report the frozen objects as leaks.
atexit.register(os._exit, 0)
