"""Work that goes on beside the caller, on a thread of its own."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

__all__ = ["Background"]


class Background(ABC):
    """A thread that works until it is stopped. Its error is kept for `check`."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end, and wait until it has; safe to repeat, and before `start`."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def check(self) -> None:
        """Raises what ended the thread early."""
        if self._error is not None:
            raise self._error

    def _guarded(self) -> None:
        try:
            self._run()
        except Exception as error:
            self._error = error

    @abstractmethod
    def _run(self) -> None:
        """Work until `_stop` is set."""
