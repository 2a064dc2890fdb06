"""Background work on a separate thread."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

__all__ = ["Background"]


class Background(ABC):
    """A thread that works until it is stopped. `check` raises its error."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._guarded, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ask the thread to end and wait for it; safe to call twice, or before `start`."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def check(self) -> None:
        """Raise the error that ended the thread early, if any."""
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
