"""Statements that Athena keeps, one file each: named queries, and prepared statements.

`queries/named/<database>/<name>.sql` is a named query of a database, `queries/prepared/<name>.sql`
a statement with `?` where values are given later. The comments before it are its description.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from labctl.lake.query_text import read_query, unusable

__all__ = ["QUERIES", "QueryFile", "load_queries", "queries_over"]

QUERIES = Path("queries")
"""Folder of the statements' files, below the project's."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_DESCRIPTION = 1024
"""Characters, as Athena takes it."""


@dataclass(frozen=True)
class QueryFile:
    """A statement as its file says it."""

    name: str
    database: str
    """Of a named query: that of its names without one. Empty of a prepared statement."""
    sql: str
    description: str
    reads: frozenset[str]
    """Tables and views that it names, `database.table`."""
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
        """Its file, below the project's folder."""
        return "/".join(self.file.parts[-(3 if self.prepared else 4) :])


def load_queries(folder: Path) -> list[QueryFile]:
    """The statements of a folder `queries`, by their files' names; none where there is no folder.

    Raises LabError (USAGE) naming the file that cannot be used.
    """
    return [_load(file, folder) for file in sorted(folder.rglob("*.sql"))]


def queries_over(queries: Sequence[QueryFile], tables: Iterable[str]) -> list[QueryFile]:
    """Those that need no other tables and views than these."""
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
