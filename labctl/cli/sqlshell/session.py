"""Statements and commands of the shell, run one after the other: typed, or from a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from rich.table import Table as Grid
from rich.text import Text

from labctl.cli.answers import print_answer
from labctl.cli.format import Format
from labctl.cli.output import print_result, stderr
from labctl.cli.rows import rows_table
from labctl.cli.sqlshell.completion_names import Names
from labctl.cli.sqlshell.shell_input import Statement, split
from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_client import Athena
from labctl.lab.catalog.athena_tables import Tables
from labctl.lake.answer_rows import rows_csv

__all__ = ["Session"]

_FORMATS: Mapping[str, Format] = {
    "table": Format.TEXT,
    "csv": Format.CSV,
    "json": Format.JSON,
}
_SWITCH = ("on", "off")
_DEFINES = ("CREATE", "DROP", "ALTER")


class Session:
    """Settings of statements: database, format, whether times are shown."""

    def __init__(self, athena: Athena, *, database: str, format_: Format) -> None:
        self.database = database
        self.left = False
        """True if `\\q` was said."""
        self._athena = athena
        self._tables = Tables(athena.connection)
        self.names = Names(self._tables)
        self._format = format_
        self._expanded = False
        self._timing = False

    def run_all(self, text: str, *, place: str | None = None) -> None:
        """Run what is in `text` up to the first error, or `\\q`.

        Raises LabError. If it came from a `place`, the error says on which line of it.
        """
        for statement in split(text):
            try:
                self._run(statement)
            except LabError as error:
                if place is None:
                    raise
                where = f"{place}, line {statement.line}"
                raise LabError(
                    error.what,
                    hint=error.hint,
                    details=(*error.details, where),
                    exit_code=error.exit_code,
                ) from None
            if self.left:
                return

    def completions(self) -> Mapping[str, Callable[[], Iterable[str]]]:
        """Return every command with the values that its argument may have."""
        may_be: Mapping[str, Callable[[], Iterable[str]]] = {
            "\\c": self.names.databases,
            "\\d": lambda: self.names.tables(self.database),
            "\\o": lambda: _FORMATS,
            "\\x": lambda: _SWITCH,
            "\\timing": lambda: _SWITCH,
        }
        return {name: may_be.get(name, tuple) for name in _COMMANDS}

    def _run(self, statement: Statement) -> None:
        if statement.is_command:
            self._command(statement.text)
            return
        begun = time.monotonic()
        try:
            answer = self._athena.run(statement.text, database=self.database)
        finally:
            if statement.text.split(maxsplit=1)[0].upper() in _DEFINES:
                self.names.forget()
        seconds = time.monotonic() - begun
        print_answer(self._format, answer, expanded=self._expanded)
        if self._timing:
            sys.stdout.flush()
            stderr.print(f"{seconds:.2f} s")

    def _command(self, text: str) -> None:
        name, *rest = text.rstrip(";").split(maxsplit=1)
        argument = rest[0].strip() if rest else ""
        command = _COMMANDS.get(name)
        if command is None:
            raise LabError(
                f"There is no command {name}", hint="\\? lists them", exit_code=ExitCode.USAGE
            )
        if argument and not command.argument:
            raise LabError(f"{name} takes no argument", exit_code=ExitCode.USAGE)
        command.run(self, argument)

    # the commands

    def _describe(self, argument: str) -> None:
        if not argument:
            found = self._tables.tables(self.database)
            self._print(("table", "kind"), [(one.name, one.kind) for one in found])
            return
        *database, name = (part.strip('"`').lower() for part in argument.split("."))
        table = self._tables.table(database[-1] if database else self.database, name)
        self._print(
            ("column", "type", "key", "comment"),
            [
                (one.name, one.type, "partition" if one.partition else "", one.comment)
                for one in table.columns
            ],
        )

    def _databases(self, _: str) -> None:
        found = self._tables.databases()
        self._print(("database", "description"), [(one.name, one.description) for one in found])

    def _change(self, argument: str) -> None:
        name = argument.strip('"`').lower()
        known = [one.name for one in self._tables.databases()]
        if name not in known:
            raise LabError(
                f"There is no database {name!r}" if name else "\\c takes a database",
                hint=f"databases: {', '.join(known)}",
                exit_code=ExitCode.USAGE,
            )
        self.database = name

    def _expand(self, argument: str) -> None:
        self._expanded = _switched("\\x", argument, self._expanded)
        shown = "on" if self._expanded else "where rows are too wide"
        stderr.print(f"one column per line: {shown}")

    def _time(self, argument: str) -> None:
        self._timing = _switched("\\timing", argument, self._timing)
        stderr.print(f"times: {'on' if self._timing else 'off'}")

    def _output(self, argument: str) -> None:
        if argument and argument not in _FORMATS:
            raise LabError(
                f"There is no format {argument!r}",
                hint=f"formats: {', '.join(_FORMATS)}",
                exit_code=ExitCode.USAGE,
            )
        if argument:
            self._format = _FORMATS[argument]
        named = {format_: name for name, format_ in _FORMATS.items()}
        stderr.print(f"format: {named[self._format]}")

    def _leave(self, _: str) -> None:
        self.left = True

    def _help(self, _: str) -> None:
        grid = Grid(box=None, pad_edge=False, show_header=False)
        for name, command in _COMMANDS.items():
            grid.add_row(Text(f"{name} {command.argument}"), command.does)
        stderr.print(grid)

    def _print(self, names: tuple[str, ...], found: list[tuple[str, ...]]) -> None:
        import pyarrow as pa

        columns = zip(*found, strict=True) if found else ((),) * len(names)
        arrays = [pa.array(column, pa.string()) for column in columns]
        rows = pa.table(arrays, names=list(names))
        print_result(
            self._format,
            rows.to_pylist(),
            lambda: rows_table(rows, expanded=self._expanded),
            csv=lambda: rows_csv(rows),
        )


class _Command(NamedTuple):
    argument: str
    """Its arguments; nothing."""
    does: str
    run: Callable[[Session, str], None]


_COMMANDS: Mapping[str, _Command] = {
    "\\l": _Command("", "list the databases", Session._databases),
    "\\c": _Command("DATABASE", "names without a database are of this one", Session._change),
    "\\d": _Command("[TABLE]", "list tables and views, or a table's columns", Session._describe),
    "\\x": _Command("[on|off]", "show each row as lines of a name and a value", Session._expand),
    "\\timing": _Command("[on|off]", "show how long a statement took", Session._time),
    "\\o": _Command("[table|csv|json]", "how results are printed", Session._output),
    "\\?": _Command("", "this list", Session._help),
    "\\q": _Command("", "leave; so does Ctrl-D", Session._leave),
}


def _switched(name: str, argument: str, now: bool) -> bool:
    if argument and argument not in _SWITCH:
        raise LabError(f"{name} takes on or off, not {argument!r}", exit_code=ExitCode.USAGE)
    return argument == "on" if argument else not now
