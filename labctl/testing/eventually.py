"""Waiting until a condition holds, or failing with an account of where things are stuck."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from labctl.lab.lab import Lab
from labctl.testing.named_tables import known_table
from labctl.testing.trace import trace_row

__all__ = ["Eventually", "StuckError"]

T = TypeVar("T")
POLL_SECONDS = 0.1
POLL_SHARE = 2
"""Pause before the next look, as a multiple of the last look's duration, at most a second: the
services that are waited for need the cores, too."""
LONGEST_POLL_SECONDS = 1.0
WAIT_SECONDS = 180.0
"""Default timeout. A second is enough on a quiet machine, but not after a fault on a slow and busy
one."""


class StuckError(AssertionError):
    """Error for a condition that did not become true; the message shows how far things got."""


@dataclass(frozen=True)
class Eventually:
    """Function that waits for something in a lab."""

    lab: Lab

    def __call__(
        self,
        condition: Callable[[], T],
        *,
        seconds: float = WAIT_SECONDS,
        row: tuple[str, Mapping[str, object]] | None = None,
    ) -> T:
        """Wait for the first truthy result of `condition` and return it.

        An AssertionError in `condition` means not yet; any other exception ends the wait. On
        failure, the message follows `row` (`("sale", {"salesid": 200})`) from the source through
        topic and bronze to silver. Raise StuckError after `seconds`, and LabError (USAGE) at once
        if the table of `row` does not exist.
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
