"""Names that match a pattern of a client, in time that grows with the text alone.

The patterns are Arrow's regular expressions (RE2). Python's own can take years for a short one,
and hold the whole service meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sqlapi.sql.errors import SqlError

__all__ = ["PatternError", "matching", "matching_hive"]

_LONGEST = 2048
"""Characters of a pattern, as many as Glue takes."""


class PatternError(ValueError):
    """A pattern that is no regular expression, or one with parts that RE2 does not have."""


def matching(names: Sequence[str], pattern: str, *, whole: bool) -> list[str]:
    """Return the names that match, each as a `whole` or in any part. Raises PatternError."""
    if len(pattern) > _LONGEST:
        raise PatternError(f"it is longer than {_LONGEST} characters")
    # With one value at least: without any, a wrong pattern is not seen to be one.
    column = pa.array(["", *names], pa.string())
    try:
        # By itself first: `a)|(b` is none, though within brackets it would be.
        found = pc.match_substring_regex(column, pattern)
        if whole:
            found = pc.match_substring_regex(column, rf"\A(?:{pattern})\z")
    except pa.ArrowInvalid as error:
        raise PatternError(str(error)) from None
    return [name for name, matches in zip(names, found.to_pylist()[1:], strict=True) if matches]


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
