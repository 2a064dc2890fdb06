"""Waiting for a fact that needs no lab."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["wait_for"]

_SECONDS = 300.0
_POLL_SECONDS = 0.02
_POLL_SHARE = 2
"""How many times as long as its last look took it waits for the next one: what is waited for needs
the cores, too."""


def wait_for(fact: Callable[[], bool]) -> None:
    """Wait until `fact` holds; fails after five minutes."""
    deadline = time.monotonic() + _SECONDS
    begun = time.monotonic()
    while not fact():
        now = time.monotonic()
        assert now < deadline, f"not so after {_SECONDS:.0f} s"
        time.sleep(max(_POLL_SECONDS, _POLL_SHARE * (now - begun)))
        begun = time.monotonic()
