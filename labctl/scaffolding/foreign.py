"""Checks of a foreign database's answers before any of them is written to a file of the project.

A name may have any characters, and a server may answer anything. In SQL, names are quoted. This
module checks the rest: names in file names and properties files, types, and values.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.sources import ENGINES, SourceTable, TableRef
from labctl.sources.sql_files import CONTROL

__all__ = ["require_plain_names", "type_text", "value_literal", "why_left_out"]

_NOT_IN_FILE_NAMES = re.compile(r"[/\\]")
_NOT_IN_KEYS = re.compile(r"[,\\]|^\s|\s$")
"""Characters with a special meaning in a properties file's list of key columns."""


def why_left_out(table: SourceTable, engine: EngineName) -> str | None:
    """Return why labctl writes no files for a table; None if it does."""
    return next(_problems(table, engine), None)


def require_plain_names(table: SourceTable) -> None:
    """Raise LabError (USAGE) for a table whose names labctl cannot write into files."""
    for reason in _name_problems(table.ref, [c.name for c in table.columns], table.keys):
        raise LabError(
            f"{str(table.ref)!r} cannot be captured: {reason}",
            hint="nothing was changed; rename it, or leave it out",
            exit_code=ExitCode.USAGE,
        )


def type_text(kind: str, engine: EngineName) -> str:
    """Return a type of the catalogue as labctl writes it."""
    return ENGINES[engine].sql_files.type_text(kind)


def value_literal(text: str, engine: EngineName) -> str:
    """Return a value that the server wrote as one SQL literal.

    Raises LabError if it is not a single literal.
    """
    forms = ENGINES[engine].sql_files
    if forms.value_form is not None and forms.value_form.fullmatch(text) is None:
        raise LabError(
            f"The database wrote a value that is no single literal: {text!r:.80}",
            hint="leave --copy-rows out; nothing was written",
            exit_code=ExitCode.USAGE,
        )
    return forms.value_text(text)


def _problems(table: SourceTable, engine: EngineName) -> Iterator[str]:
    columns = [(column.name, column.declared.full) for column in table.columns]
    columns += [(column.name, column.type) for column in table.unread]
    yield from _name_problems(table.ref, [name for name, _ in columns], table.keys)
    for name, kind in columns:
        if ENGINES[engine].sql_files.type_form.fullmatch(kind) is None or CONTROL.search(
            type_text(kind, engine)
        ):
            yield f"the type of its column {name!r} is not one that labctl can write: {kind!r:.80}"


def _name_problems(ref: TableRef, columns: list[str], keys: tuple[str, ...]) -> Iterator[str]:
    for name in (ref.schema, ref.name, *columns):
        if CONTROL.search(name):
            yield f"{name!r} has a control character"
    for name in (ref.schema, ref.name):
        if _NOT_IN_FILE_NAMES.search(name):
            yield f"{name!r} has a slash, and tables give files their names"
    for name in keys:
        if _NOT_IN_KEYS.search(name):
            yield f"its key column {name!r} cannot stand in a list of columns"
