"""SQL Server's SQL in the files of a project: batches, each ended by a line `GO`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from labctl.sources.base import Source, quoted
from labctl.sources.sql_files import SIZE, WORD, SqlFiles
from labctl.sources.sql_statements import Statement

__all__ = ["GO", "SQL_FILES", "batches", "text_literal"]

GO = re.compile(r"\s*GO(?:\s+(?P<times>\d+))?\s*;?\s*", re.IGNORECASE)
"""The line that ends a batch."""
_EXAMPLE = """\

IF OBJECT_ID(N'{schema}.customer') IS NULL
    CREATE TABLE {schema}.customer (
        customer_id int NOT NULL PRIMARY KEY,
        name nvarchar(100) NOT NULL,
        email nvarchar(200)
    );
GO

IF NOT EXISTS (SELECT 1 FROM {schema}.customer)
    INSERT INTO {schema}.customer (customer_id, name, email) VALUES
        (1, N'Ada', N'ada@example.com'),
        (2, N'Grace', NULL);
GO
"""


def batches(
    lines: Iterable[str], *, until: Callable[[str], bool] = lambda _: False
) -> Iterator[Statement]:
    """Yield the batches. A line `GO` (`GO 5`: five times) or the end of input ends one.

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


def _create_schema(database: Source, schema: str) -> str | None:
    if schema == "dbo":
        return None
    made = f"CREATE SCHEMA {database.quote(schema)}"
    return f"IF SCHEMA_ID({text_literal(schema)}) IS NULL EXEC({text_literal(made)})"


def text_literal(text: str) -> str:
    """Return a text as a literal of Unicode."""
    return "N" + quoted(text, ("'", "'"))


SQL_FILES = SqlFiles(
    split=lambda text: batches(text.split("\n")),
    example=_EXAMPLE,
    type_form=re.compile(rf"{WORD}{SIZE}"),
    end=";\nGO\n",
    create_schema=_create_schema,
    create_table="IF OBJECT_ID(N'{text}') IS NULL\nCREATE TABLE {name} (\n{body}\n)",
)
