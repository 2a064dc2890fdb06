"""Waiting on facts: until a condition holds, or with an account of where things are stuck."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from labctl.lab.lab import Lab
from labctl.testing.names import known_table
from labctl.testing.trace import trace_row

__all__ = ["Eventually", "StuckError"]

T = TypeVar("T")
POLL_SECONDS = 0.1
POLL_SHARE = 2
"""How many times as long as its last look took it waits for the next one, for a second at most:
what is waited for needs the cores, too."""
LONGEST_POLL_SECONDS = 1.0
WAIT_SECONDS = 180.0
"""Where a second is enough on a quiet machine: after a fault, on a slow and busy one, it is not."""


class StuckError(AssertionError):
    """What was waited for did not happen; the message shows how far it got."""


@dataclass(frozen=True)
class Eventually:
    """Waits for something in a lab."""

    lab: Lab

    def __call__(
        self,
        condition: Callable[[], T],
        *,
        seconds: float = WAIT_SECONDS,
        row: tuple[str, Mapping[str, object]] | None = None,
    ) -> T:
        """The first truthy result of `condition`.

        An AssertionError in `condition` means not yet; any other exception ends the wait. `row`
        (`("sale", {"salesid": 200})`) is what the account of a failure follows from the source
        through topic and bronze to silver. Raises StuckError after `seconds`, LabError (USAGE) at
        once for the row of a table that there is not.
        """
        if row is not None:
            known_table(self.lab, row[0])
        deadline = time.monotonic() + seconds
        failure: str
        while True:
            begun = time.monotonic()
            try:
                result = condition()
                if result:
                    return result
                failure = f"last result: {result!r}"
            except AssertionError as error:
                failure = f"last failure: {error}"
            if time.monotonic() > deadline:
                account = "\n".join(trace_row(self.lab, row))
                raise StuckError(f"not so after {seconds:g} s; {failure}\n{account}")
            pause = POLL_SHARE * (time.monotonic() - begun)
            time.sleep(min(max(POLL_SECONDS, pause), LONGEST_POLL_SECONDS))
