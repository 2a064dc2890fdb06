"""Worker processes of the service, none of which outlives its parent."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading

__all__ = ["end_with_parent"]


def end_with_parent() -> None:
    """End this worker as soon as its parent has ended, even if that was killed.

    A worker that stayed would keep the port, so that the service could not start again. This does
    nothing in a process that is not a worker.
    """
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True, name="end-with-parent").start()
