"""Reads of tables whose files may be removed meanwhile, and the errors of reads that fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.lake.silver_table import SilverTable

__all__ = ["TableChangedError", "is_unread", "not_written", "reading", "rebuild_hint"]

_ATTEMPTS = 4
# hudi-rs exports none of its exception types.
_HUDI_ERROR = "HudiCoreError"
_HUDI_PANIC = "PanicException"

T = TypeVar("T")


class TableChangedError(Exception):
    """Error for a table that was removed or rewritten between two looks at it."""


def is_unread(error: BaseException) -> bool:
    """Return whether hudi-rs could not read a table, or files that it requested were missing."""
    names = (_HUDI_ERROR, _HUDI_PANIC, TableChangedError.__name__, FileNotFoundError.__name__)
    return type(error).__name__ in names


def reading(tables: Sequence[SilverTable], read: Callable[[], T]) -> T:
    """Run `read`, and retry it if files of `tables` were removed meanwhile.

    The cleaner and compactions remove files, and a table may be rewritten. Raise LabError if
    retries do not help, or if hudi-rs panics on a table.
    """
    try:
        for attempt in Retrying(
            retry=retry_if_exception(
                lambda error: is_unread(error) and type(error).__name__ != _HUDI_PANIC
            ),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_exponential(0.1),
            reraise=True,
        ):
            with attempt:
                return read()
    except BaseException as error:  # a panic of hudi-rs is no Exception
        if not is_unread(error):
            raise
        for table in tables:
            if not table.has_commit():
                raise not_written(table.name) from None
            if path := table.unreadable_file():
                raise LabError(
                    f"Silver table {table.name} is damaged: its file {path} cannot be read "
                    f"({error})",
                    hint=rebuild_hint(table.name),
                ) from None
        raise LabError(
            f"hudi-rs could not read {', '.join(table.name for table in tables)}: {error}",
            hint="Try --engine spark, which reads whatever Hudi can write.",
        ) from None
    raise AssertionError("unreachable")


def not_written(name: str) -> LabError:
    """Return the error for a table without a commit."""
    return LabError(
        f"Silver table {name} has no commit yet.",
        hint="Wait for the first rows to arrive: labctl status.",
        exit_code=ExitCode.NOT_READY,
    )


def rebuild_hint(name: str) -> str:
    """Return the next step for a table with a damaged or lost file."""
    return f"labctl rebuild {name} writes it again from bronze"
