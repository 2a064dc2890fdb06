"""Reads of tables whose files may be removed meanwhile, and the errors of reads that fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_exponential

from labctl.errors import ExitCode, LabError
from sqlapi.hudi.opened import PANIC, is_unread
from sqlapi.table_format import (
    CleanedError,
    DamagedError,
    LeftOutError,
    TableChangedError,
    TableError,
    UnwrittenError,
)

if TYPE_CHECKING:
    from labctl.lake.silver_table import SilverTable

__all__ = ["explained", "reading"]

_ATTEMPTS = 4

T = TypeVar("T")


def reading(tables: Sequence[SilverTable], read: Callable[[], T]) -> T:
    """Run `read`, and retry it if files of `tables` were removed meanwhile.

    The cleaner and compactions remove files, and a table may be rewritten. Raise LabError if
    retries do not help, or if hudi-rs panics on a table.
    """
    try:
        for attempt in Retrying(
            retry=retry_if_exception(
                lambda error: is_unread(error) and type(error).__name__ != PANIC
            ),
            stop=stop_after_attempt(_ATTEMPTS),
            wait=wait_exponential(0.1),
            reraise=True,
        ):
            with attempt, explained():
                return read()
    except BaseException as error:  # a panic of hudi-rs is no Exception
        if not is_unread(error):
            raise
        for table in tables:
            if not table.has_commit():
                raise _not_written(table.name) from None
            if path := table.unreadable_file():
                raise LabError(
                    f"Silver table {table.name} is damaged: its file {path} cannot be read "
                    f"({error})",
                    hint=_rebuild_hint(table.name),
                ) from None
        raise LabError(
            f"hudi-rs could not read {', '.join(table.name for table in tables)}: {error}",
            hint="Try --engine spark, which reads whatever Hudi can write.",
        ) from None
    raise AssertionError("unreachable")


@contextmanager
def explained() -> Iterator[None]:
    """Raise LabError, with the lab's next step, for a table that cannot be read correctly."""
    try:
        yield
    except TableChangedError:  # another read may succeed
        raise
    except TableError as error:
        raise _explained(error) from None


def _explained(error: TableError) -> LabError:
    match error:
        case UnwrittenError():
            return _not_written(error.table)
        case DamagedError():
            return LabError(
                f"Silver table {error.table} is damaged: {error}.",
                hint=_rebuild_hint(error.table),
            )
        case LeftOutError():
            return LabError(str(error), hint="Use --engine spark for this table.")
        case CleanedError():
            return LabError(
                str(error),
                hint="Ask for a later time, or set lab.keep.minutes in the table's properties.",
                exit_code=ExitCode.USAGE,
            )
        case _:
            return LabError(str(error), hint=error.hint)


def _not_written(name: str) -> LabError:
    return LabError(
        f"Silver table {name} has no commit yet.",
        hint="Wait for the first rows to arrive: labctl status.",
        exit_code=ExitCode.NOT_READY,
    )


def _rebuild_hint(name: str) -> str:
    return f"labctl table rebuild {name} writes it again from bronze"
