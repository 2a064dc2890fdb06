"""Several workers are one service: none of them outlives the process that started it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading

__all__ = ["end_with_parent"]


def end_with_parent() -> None:
    """Have this worker end when its parent is gone, however that ended.

    A worker that was left would hold the port, and who starts the service again could not listen.
    Nothing happens in a process that was not started as a worker.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()
