"""What all tests share: how the processes they start take Ctrl-C."""

from __future__ import annotations

import signal


def pytest_configure() -> None:
    # In a shell's background job Ctrl-C is ignored, and so it would be by all that tests start,
    # those that interrupt a command among them.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
