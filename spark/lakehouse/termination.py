"""A clean end: on SIGTERM the queries finish their current work, and the exit code is 0.

`spark-submit` runs a JVM whose child is this process. A signal may reach either or both, and the
JVM's own way to end on SIGTERM is to take Spark down at once, with commits half made. So both
processes only ask the application to stop; the JVM ends with the application.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

from pyspark.sql import SparkSession

from lakehouse.callbacks import start_callbacks

__all__ = ["on_termination"]

_ORPHAN_CHECK_SECONDS = 2.0
_ORPHANED = 3


class _JvmHandler:
    """A `sun.misc.SignalHandler`, called by the JVM."""

    def __init__(self, stop: Callable[[], None]) -> None:
        self._stop = stop

    def handle(self, _signal: Any) -> None:
        self._stop()

    class Java:
        implements = ("sun.misc.SignalHandler",)


def on_termination(spark: SparkSession, stop: Callable[[], None]) -> None:
    """Call `stop` on SIGTERM and SIGINT, wherever they arrive; end when the JVM is gone."""
    gateway: Any = spark.sparkContext._gateway
    jvm: Any = spark.sparkContext._jvm
    start_callbacks(gateway)
    handler = _JvmHandler(stop)
    for name in ("TERM", "INT"):
        jvm.sun.misc.Signal.handle(jvm.sun.misc.Signal(name), handler)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop())
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()


def _end_with_parent(parent: int) -> None:
    """End when the parent, a JVM, is gone: without it this process could only hang."""
    while os.getppid() == parent:
        time.sleep(_ORPHAN_CHECK_SECONDS)
    os._exit(_ORPHANED)
