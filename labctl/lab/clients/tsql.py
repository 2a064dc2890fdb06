"""Statements for SQL Server from a terminal or a file, on machines without `sqlcmd`."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import pymssql

from labctl.engines.sqlserver import sqlserver_sql_files
from labctl.errors import ExitCode, LabError
from labctl.lab.clients.client_programs import begin_in
from labctl.lab.lab import Lab

__all__ = ["batches", "run_statements"]

_END = re.compile(r"\s*:?(quit|exit)\s*;?\s*", re.IGNORECASE)
_HINT = (
    "there is no `sqlcmd` on the PATH, and in its place only -Q, -q, -i and -d are known; for the "
    "others install sqlcmd: learn.microsoft.com/sql/tools/sqlcmd"
)


def batches(lines: Iterable[str]) -> Iterator[str]:
    """Return the batches, each ended by a line `GO` (`GO 5`: five times) or by the last line.

    A line `quit` or `exit` that begins a batch ends the input.
    """
    found = sqlserver_sql_files.batches(lines, until=lambda line: _END.fullmatch(line) is not None)
    return (batch.text for batch in found)


def run_statements(lab: Lab, arguments: Sequence[str], source: str | None = None) -> bool:
    """Run what `sqlcmd` would run with these arguments; return whether every batch succeeded.

    A batch that fails is reported on standard error, and the next one runs. Raises LabError for
    unknown arguments, or if the server refuses the connection.
    """
    given = _parser().parse_args(arguments)
    database = begin_in(lab, "sqlserver", source)
    try:
        connection = pymssql.connect(
            server=database.host,
            port=str(database.port),
            user=database.user,
            password=database.password.get_secret_value(),
            database=given.database or database.database,
            autocommit=True,
        )
    except pymssql.Error as error:
        raise LabError(
            f"SQL Server does not let in {database.user}: {_said(error)}",
            hint="`labctl status` shows whether it runs",
            exit_code=ExitCode.NOT_READY,
        ) from None
    with connection, connection.cursor() as cursor:
        results = [_run(cursor, batch) for batch in _given_batches(given.query, given.inputs)]
    return all(results)


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise LabError(f"sqlcmd: {message}", hint=_HINT, exit_code=ExitCode.USAGE)


def _parser() -> ArgumentParser:
    parser = _Parser(prog="labctl client sqlcmd", add_help=False, allow_abbrev=False)
    parser.add_argument("-Q", "-q", dest="query")
    parser.add_argument("-i", dest="inputs", action="append", type=Path, default=[])
    parser.add_argument("-d", dest="database")
    return parser


def _given_batches(query: str | None, inputs: Sequence[Path]) -> Iterator[str]:
    if query is not None:
        yield from batches(query.splitlines())
    for path in inputs:
        try:
            yield from batches(path.read_text("utf-8-sig").splitlines())
        except (OSError, UnicodeDecodeError) as error:
            raise LabError(f"{path} cannot be read: {error}", exit_code=ExitCode.USAGE) from None
    if query is None and not inputs:
        yield from batches(_typed() if sys.stdin.isatty() else sys.stdin)


def _typed() -> Iterator[str]:
    """Yield lines from a terminal, where they can be edited, until Ctrl-D."""
    with suppress(ImportError):
        import readline  # noqa: F401 - `input` uses it
    number = 1
    with suppress(EOFError):
        while True:
            line = input(f"{number}> ")
            yield line
            number = 1 if sqlserver_sql_files.GO.fullmatch(line) else number + 1


def _run(cursor: pymssql.Cursor, batch: str) -> bool:
    try:
        cursor.execute(batch)
        while True:
            if cursor.description:
                _print([column[0] for column in cursor.description], cursor.fetchall())
            if cursor.rowcount >= 0:
                print(f"({cursor.rowcount} row{'' if cursor.rowcount == 1 else 's'} affected)")
            if not cursor.nextset():
                return True
    except pymssql.Error as error:
        print(_said(error), file=sys.stderr)
        return False


def _print(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table whose columns are as wide as their widest values."""
    cells = [["NULL" if value is None else str(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(names, *cells, strict=True)]
    for line in (names, ["-" * width for width in widths], *cells):
        print(" ".join(map(str.ljust, line, widths)).rstrip())
    print()


def _said(error: pymssql.Error) -> str:
    """Return the driver's error in the form `Msg 208: Invalid object name 'x'.`."""
    number, text = (*error.args, "")[:2] if error.args else ("", str(error))
    if isinstance(number, tuple):
        number, text = number
    message = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text or number)
    # The client library's additions follow the server's own message.
    return f"Msg {number}: {message.split('DB-Lib error message')[0].strip()}"
