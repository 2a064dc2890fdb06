"""The context of every page: the lab, its command line, and whether the page may change it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from labctl.errors import ExitCode, LabError
from labctl.ui.daemon_thread import in_daemon_thread

if TYPE_CHECKING:
    from labctl.command_process import LabCommand
    from labctl.lab.lab import Lab
    from labctl.ui.lake_workers import LabAddress, LakeWorkers

__all__ = ["PageContext"]

T = TypeVar("T")


@dataclass(frozen=True)
class PageContext:
    """The lab behind the pages, opened for each request: its files may change meanwhile."""

    address: LabAddress
    lake: LakeWorkers
    labctl: LabCommand
    addressed: Callable[[str], str]
    """Function that writes each command of a text for this lab and profile."""
    is_read_only: bool
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the server ends, for what would go on without end."""

    async def lab(self) -> Lab:
        """Return the lab as its files are now."""
        return await self.ask(self.address.open, seconds=5, what="lab.toml")

    async def ask(self, question: Callable[[], T], *, seconds: float, what: str) -> T:
        """Return the answer of a function that blocks, from a thread of its own.

        Raises LabError (NOT_READY), which names `what` did not answer, after `seconds`.
        """
        try:
            return await asyncio.wait_for(in_daemon_thread(question), seconds)
        except TimeoutError:
            raise LabError(
                f"{what} did not answer within {seconds:g} s",
                hint="labctl status",
                exit_code=ExitCode.NOT_READY,
            ) from None

    def must_change(self) -> None:
        """Raise LabError (USAGE) where the page changes nothing."""
        if self.is_read_only:
            raise LabError(
                "This page changes nothing",
                hint="labctl ui, without --read-only",
                exit_code=ExitCode.USAGE,
            )

    def close(self) -> None:
        """End the processes that read the lake."""
        self.lake.close()
