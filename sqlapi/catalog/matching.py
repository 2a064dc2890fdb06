"""Names that match a pattern of a client, in time that grows with the text alone.

The patterns are DuckDB's regular expressions (RE2). Python's own can take years for a short one,
and hold the whole service meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import duckdb

from sqlapi.sql.errors import SqlError

__all__ = ["PatternError", "matching", "matching_hive"]

_LONGEST = 2048
"""Characters of a pattern, as many as Glue takes."""


class PatternError(ValueError):
    """A pattern that is no regular expression, or one with parts that RE2 does not have."""


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 1, "enable_external_access": False})


def matching(names: Sequence[str], pattern: str, *, whole: bool) -> list[str]:
    """Return the names that match, each as a `whole` or in any part. Raises PatternError."""
    if len(pattern) > _LONGEST:
        raise PatternError(f"it is longer than {_LONGEST} characters")
    function = "regexp_full_match" if whole else "regexp_matches"
    connection = _database().cursor()
    try:
        # Without names it is still compiled: a wrong pattern is wrong in every database.
        rows = connection.execute(
            f"SELECT {function}(name, $pattern) FROM (SELECT unnest($names::VARCHAR[]) AS name)",  # noqa: S608 - one of two
            {"pattern": pattern, "names": ["", *names]},
        ).fetchall()
    except duckdb.Error as error:
        raise PatternError(str(error).partition("\n")[0]) from None
    finally:
        connection.close()
    return [name for name, (matches,) in zip(names, rows[1:], strict=True) if matches]


def matching_hive(names: Sequence[str], pattern: str | None) -> list[str]:
    """The names that match a pattern of Hive: `*` for anything, `|` for a choice, in any case.

    Raises SqlError for one that is too long.
    """
    if pattern is None:
        return list(names)
    choices = [
        ".*".join(re.escape(part) for part in choice.split("*")) for choice in pattern.split("|")
    ]
    try:
        return matching(names, f"(?is){'|'.join(choices)}", whole=True)
    except PatternError as error:
        raise SqlError("SYNTAX_ERROR", f"The pattern {pattern[:60]!r}: {error}") from None
