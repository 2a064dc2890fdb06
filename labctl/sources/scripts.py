"""SQL scripts: split a file into statements with their line numbers, and run them one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.sources.base import Source
from labctl.sources.refusals import is_not_allowed

if TYPE_CHECKING:
    from sqlglot import Token

from lakehouse.regular_files import read_bytes

__all__ = ["GO", "Statement", "batches", "read_script", "run_statements", "split_script"]

GO = re.compile(r"\s*GO(?:\s+(?P<times>\d+))?\s*;?\s*", re.IGNORECASE)
"""The line that ends a SQL Server batch."""
_LARGEST = 256 * 1024**2
"""Largest size of a script in bytes; it is read into memory."""
_NOT_THE_ADMINISTRATOR = (
    "a file runs as the owner of the source's database, not as the server's administrator: what "
    "needs more rights, take out of it, and if you trust it, run it once yourself, with `labctl "
    "psql --admin` or `labctl mysql --admin`"
)
_DELIMITER = re.compile(r"\s*DELIMITER\s+(?P<end>\S+)\s*", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """One statement of a script; for SQL Server, one batch."""

    text: str
    line: int
    """Line on which it begins, counted from 1."""


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
    """Yield the statements of a script. A semicolon ends one; for SQL Server, a line `GO` does.

    Semicolons in quotes, comments and PostgreSQL's `$$ … $$` do not count. In MySQL, a line like
    `DELIMITER //` replaces the semicolon. Raises ValueError for an unclosed quote.
    """
    if engine == "sqlserver":
        yield from batches(text.split("\n"))
    elif engine == "mysql":
        for end, part, line in _delimited(text):
            if end == ";":
                yield from _tokenized(part, "mysql", line)
            else:
                yield from _ended_by(end, part, line)
    else:
        yield from _tokenized(text, "postgres", 1)


def batches(
    lines: Iterable[str], *, until: Callable[[str], bool] = lambda _: False
) -> Iterator[Statement]:
    """Yield SQL Server batches. A line `GO` (`GO 5`: five times) or the end of input ends one.

    Each batch is yielded once its last line was read. If `until` is true for the first line of a
    batch, the iteration ends.
    """
    batch: list[str] = []
    begun = 1
    for number, given in enumerate(chain(lines, ["GO"]), 1):
        line = given.rstrip("\r\n")
        if not batch and until(line):
            return
        if match := GO.fullmatch(line):
            if any(part.strip() for part in batch):
                for _ in range(int(match["times"] or 1)):
                    yield Statement("\n".join(batch), begun)
            batch = []
        elif batch or line.strip():
            begun = begun if batch else number
            batch.append(line)


def _delimited(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield each part of the text as its statement delimiter, its text and its first line."""
    end, part, begun = ";", list[str](), 1
    for number, line in enumerate(re.split(r"(?<=\n)", text), 1):
        if match := _DELIMITER.fullmatch(line):
            yield end, "".join(part), begun
            end, part, begun = match["end"], [], number + 1
        else:
            part.append(line)
    yield end, "".join(part), begun


def _ended_by(end: str, text: str, line: int) -> Iterator[Statement]:
    for part in text.split(end):
        if stripped := part.strip():
            before = part[: len(part) - len(part.lstrip())]
            yield Statement(stripped, line + before.count("\n"))
        line += part.count("\n")


def _tokenized(text: str, dialect: str, first: int) -> Iterator[Statement]:
    from sqlglot import TokenType, tokenize
    from sqlglot.errors import TokenError

    try:
        tokens = tokenize(text, read=dialect)
    except TokenError as error:
        raise ValueError(f"it is no SQL: {error}") from None

    line, counted = first, 0

    def statement(part: Sequence[Token]) -> Statement:
        nonlocal line, counted
        start, end = part[0].start, part[-1].end + 1
        line, counted = line + text.count("\n", counted, start), start
        return Statement(text[start:end], line)

    begun: list[Token] = []
    for token in tokens:
        if token.token_type is not TokenType.SEMICOLON:
            begun.append(token)
        elif begun:
            yield statement(begun)
            begun = []
    if begun:
        yield statement(begun)


def run_statements(source: Source, path: Path, statements: Sequence[Statement]) -> None:
    """Run the statements of a file, in order, until one fails.

    PostgreSQL runs all or none. The other engines cannot roll back DDL: there, the statements
    before the failing one remain applied. Raises LabError with the file and line of the failure.
    """
    takes_back = source.engine == "postgres"
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
                    step = f"{_NOT_THE_ADMINISTRATOR}; {step}"
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
