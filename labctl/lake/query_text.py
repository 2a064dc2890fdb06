"""Files of one SELECT each, in Athena's SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sqlglot import exp

from labctl.errors import ExitCode, LabError
from lakecontract.regular_files import read_text
from sqlapi.sql.dialect import parse_query
from sqlapi.sql.statement_errors import SqlError

__all__ = ["QueryText", "read_query", "unusable"]

_COMMENTS = re.compile(r"\A(\s*--[^\n]*\n)*")


@dataclass(frozen=True)
class QueryText:
    """The contents of a query file."""

    sql: str
    """The SELECT, without the comments before it."""
    comment: str
    """The comments before the SELECT, as one line."""
    reads: frozenset[str]
    """Tables and views that it reads, as `database.table`."""


def read_query(file: Path, database: str) -> QueryText:
    """Read a query file. Raise LabError (USAGE) naming the file if it cannot be used.

    `database` applies to names without one.
    """
    try:
        text = read_text(file)
    except (OSError, UnicodeDecodeError) as error:
        raise unusable(file, f"it cannot be read: {error}") from None
    comments = _COMMENTS.match(text)
    before = comments[0] if comments else ""
    sql = text[len(before) :].strip().removesuffix(";").rstrip()
    try:
        tree = parse_query(sql)
    except SqlError as error:
        raise unusable(file, str(error)) from None
    lines = (line.strip().removeprefix("--").strip() for line in before.splitlines())
    return QueryText(sql, " ".join(filter(None, lines)), frozenset(_named(tree, database)))


def _named(tree: exp.Expr, database: str) -> Iterator[str]:
    inside = {cte.alias_or_name for cte in tree.find_all(exp.CTE)}
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and (table.db or table.name not in inside):
            yield f"{table.db or database}.{table.name}".lower()


def unusable(file: Path, why: str) -> LabError:
    """Return the error for a file that cannot be used."""
    return LabError(
        f"{file}: {why}", hint="correct the file; nothing was written", exit_code=ExitCode.USAGE
    )
