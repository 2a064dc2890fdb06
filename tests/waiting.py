"""Waiting for a fact that needs no lab."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["wait_for"]

_SECONDS = 300.0
_POLL_SECONDS = 0.02


def wait_for(fact: Callable[[], bool]) -> None:
    """Wait until `fact` holds; fails after five minutes."""
    deadline = time.monotonic() + _SECONDS
    while not fact():
        assert time.monotonic() < deadline, f"not so after {_SECONDS:.0f} s"
        time.sleep(_POLL_SECONDS)
