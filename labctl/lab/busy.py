"""How much longer things take on a machine that has more to run than it has cores."""

from __future__ import annotations

import os

__all__ = ["BUSY_AT_MOST", "when_busy"]

BUSY_AT_MOST = 5.0
"""How many times longer than on an idle machine something may take on a busy one."""


def when_busy(seconds: float) -> float:
    """How long something may take now that takes `seconds` at most on an idle machine.

    With twice as much to run as there are cores it is twice as long, and so on up to
    `BUSY_AT_MOST`.
    """
    busy = os.getloadavg()[0] / (os.cpu_count() or 1)
    return seconds * min(max(busy, 1.0), BUSY_AT_MOST)
