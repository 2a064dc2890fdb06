"""Statements that Athena keeps, one file each: named queries, and prepared statements.

`queries/named/<database>/<name>.sql` is a named query of a database. `queries/prepared/<name>.sql`
is a prepared statement, with `?` for values that are given later. The comments before the SQL are
the description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from labctl.lake.query_text import read_query, unusable

__all__ = ["QUERIES", "QueryFile", "load_queries", "queries_over"]

QUERIES = Path("queries")
"""Folder of the statements' files, below the project's folder."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_DESCRIPTION = 1024
"""Athena's limit, in characters."""


@dataclass(frozen=True)
class QueryFile:
    """A statement as its file defines it."""

    name: str
    database: str
    """The default database of a named query; empty for a prepared statement."""
    sql: str
    description: str
    reads: frozenset[str]
    """Tables and views that it reads, as `database.table`."""
    file: Path

    @property
    def prepared(self) -> bool:
        return not self.database

    @property
    def full_name(self) -> str:
        """`database.name` of a named query, `prepared.name` of a prepared statement."""
        return f"{self.database or 'prepared'}.{self.name}"

    @property
    def place(self) -> str:
        """Path of its file below the project's folder."""
        return "/".join(self.file.parts[-(3 if self.prepared else 4) :])


def load_queries(folder: Path) -> list[QueryFile]:
    """Return the statements of a `queries` folder, in order of their files; none without a folder.

    Raise LabError (USAGE) naming the file that cannot be used.
    """
    return [_load(file, folder) for file in sorted(folder.rglob("*.sql"))]


def queries_over(queries: Sequence[QueryFile], tables: Iterable[str]) -> list[QueryFile]:
    """Return the queries that need no tables or views other than these."""
    known = set(tables)
    return [query for query in queries if query.reads <= known]


def _load(file: Path, folder: Path) -> QueryFile:
    kind, *names = file.relative_to(folder).with_suffix("").parts
    if {"named": 2, "prepared": 1}.get(kind) != len(names) or not all(map(_NAME.fullmatch, names)):
        raise unusable(
            file,
            "a statement is in queries/named/<database>/<name>.sql or queries/prepared/<name>.sql",
        )
    *databases, name = names
    found = read_query(file, "".join(databases))
    if len(found.comment) > _LONGEST_DESCRIPTION:
        raise unusable(file, f"its comment is longer than {_LONGEST_DESCRIPTION} characters")
    if kind == "prepared" and (bare := [n for n in sorted(found.reads) if n.startswith(".")]):
        # it runs in whichever database it is called from
        raise unusable(file, f"a prepared statement says the database of {bare[0][1:]}, too")
    return QueryFile(name, "".join(databases), found.sql, found.comment, found.reads, file)
