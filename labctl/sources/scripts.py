"""SQL scripts: split a file into statements with their line numbers, and run them one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.sources.base import Source
from labctl.sources.engine_registry import ENGINES
from labctl.sources.refusals import is_not_allowed
from labctl.sources.sql_statements import Statement

if TYPE_CHECKING:
    pass

from lakecontract.regular_files import read_bytes

__all__ = ["read_script", "run_statements", "split_script"]

_LARGEST = 256 * 1024**2
"""Largest size of a script in bytes; it is read into memory."""
_NOT_THE_ADMINISTRATOR = (
    "a file runs as the owner of the source's database, not as the server's administrator: what "
    "needs more rights, take out of it, and if you trust it, run it once yourself"
)


def read_script(path: Path, engine: EngineName) -> list[Statement]:
    """Return the statements of a file. Raises LabError (USAGE) if it cannot be read or split."""
    try:
        # Reading bytes keeps line breaks within values as they are.
        text = read_bytes(path, largest=_LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(
            f"{path} cannot be read: {error}",
            hint="schema files are SQL, in UTF-8",
            exit_code=ExitCode.USAGE,
        ) from None
    try:
        return list(split_script(text, engine))
    except ValueError as error:
        raise LabError(
            f"{path}: {error}", hint="correct the file", exit_code=ExitCode.USAGE
        ) from None


def split_script(text: str, engine: EngineName) -> Iterator[Statement]:
    """Yield the statements of a script, as the engine's own client separates them.

    Raises ValueError for an unclosed quote.
    """
    return ENGINES[engine].sql_files.split(text)


def run_statements(source: Source, path: Path, statements: Sequence[Statement]) -> None:
    """Run the statements of a file, in order, until one fails.

    Where the engine cannot roll back DDL, the statements before the failing one remain applied.
    Raises LabError with the file and line of the failure.
    """
    takes_back = ENGINES[source.engine].sql_files.is_atomic
    with source.transaction() if takes_back else nullcontext():
        for statement in statements:
            try:
                source.execute(statement.text)
            except LabError as error:
                line = statement.line + _lines_into(statement.text, error)
                what = error.what.splitlines()[0]
                rest = "nothing of the file" if takes_back else "what stands in front of it"
                step = "correct the file, then `labctl up`"
                if is_not_allowed(what):
                    client = ENGINES[source.engine].admin_client
                    how = f", with `{client}`" if client else ""
                    step = f"{_NOT_THE_ADMINISTRATOR}{how}; {step}"
                raise LabError(
                    f"{path}:{line}: {what}",
                    details=tuple(statement.text.splitlines()[:8]),
                    hint=f"{rest} was applied; {step}",
                    exit_code=ExitCode.USAGE,
                ) from error


def _lines_into(text: str, error: LabError) -> int:
    """Return the line of an error within its statement, from 0; 0 if the server names none."""
    diagnosis = getattr(error.__cause__, "diag", None)
    position = getattr(diagnosis, "statement_position", None)
    return text.count("\n", 0, int(position) - 1) if position else 0
