"""pytest-xdist's workers: each has a lab of its own, and a share of the ports for it."""

from __future__ import annotations

import os

import pytest

from labctl.state.sockets import RANGE_VARIABLE, kept_range, own_range

__all__ = ["take_ports", "worker_name"]


def worker_name(config: pytest.Config) -> str | None:
    """Return the worker's name, such as `gw0`; None if one process runs all tests."""
    return getattr(config, "workerinput", {}).get("workerid")


def take_ports(worker: str, workers: int) -> None:
    """Reserve a share of the ports for all labs that this worker's tests start.

    Labs that start at the same moment do not know of each other yet. A service that a test has
    killed comes back to its port, which no other worker may have taken meanwhile.
    """
    ports = own_range() or kept_range()
    share = len(ports) // workers
    # A worker that replaces a crashed one has the next number.
    first = int(worker.removeprefix("gw")) % workers * share
    own = ports[first : first + share]
    os.environ[RANGE_VARIABLE] = f"{own.start}-{own.stop - 1}"
