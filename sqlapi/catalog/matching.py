"""Matching of names with a client's pattern, in time linear in the text.

The patterns are Arrow's regular expressions (RE2). Python's own engine can take years for a short
pattern and would block the whole service.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from sqlapi.sql.statement_errors import SqlError

__all__ = ["PatternError", "matching", "matching_hive"]

_LONGEST = 2048
"""Largest number of characters in a pattern, as in Glue."""


class PatternError(ValueError):
    """The pattern is no regular expression, or RE2 does not support it."""


def matching(names: Sequence[str], pattern: str, *, whole: bool) -> list[str]:
    """Return the names that match, either as a `whole` or in any part. Raises PatternError."""
    if len(pattern) > _LONGEST:
        raise PatternError(f"it is longer than {_LONGEST} characters")
    # The array has at least one value: Arrow does not check the pattern for an empty one.
    column = pa.array(["", *names], pa.string())
    try:
        # The bare pattern comes first: `a)|(b` is invalid, though it is valid in brackets.
        found = pc.match_substring_regex(column, pattern)
        if whole:
            found = pc.match_substring_regex(column, rf"\A(?:{pattern})\z")
    except pa.ArrowInvalid as error:
        raise PatternError(str(error)) from None
    return [name for name, matches in zip(names, found.to_pylist()[1:], strict=True) if matches]


def matching_hive(names: Sequence[str], pattern: str | None) -> list[str]:
    """Return the names that match Hive's pattern: `*` is anything, `|` is "or", case is ignored.

    `.*` is the same as `*`: Hive reads patterns as regular expressions, and clients write them so.

    Raises SqlError for a pattern that is too long.
    """
    if pattern is None:
        return list(names)
    choices = [
        ".*".join(re.escape(part) for part in choice.replace(".*", "*").split("*"))
        for choice in pattern.split("|")
    ]
    try:
        return matching(names, f"(?is){'|'.join(choices)}", whole=True)
    except PatternError as error:
        raise SqlError("SYNTAX_ERROR", f"The pattern {pattern[:60]!r}: {error}") from None
