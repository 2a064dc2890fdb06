"""Functions that DuckDB is given, where its own differ from Trino's in a corner."""

from __future__ import annotations

from sqlapi.sql.code import failing

__all__ = ["MACROS"]

_WHITESPACE = "".join(
    f"chr({c})||"
    for c in (
        *range(9, 14), *range(28, 33), 0x1680, *range(0x2000, 0x2007), *range(0x2008, 0x200B),
        0x2028, 0x2029, 0x205F, 0x3000,
    )
)[:-2]  # fmt: skip


def _fail(kind: str, message: str, duck: str) -> str:
    return failing(kind, message, duck)


MACROS: tuple[str, ...] = (
    # Trino: '' for a start of 0, or one before the beginning; DuckDB takes what is there.
    "t_substr(s, i) AS CASE WHEN i = 0 OR abs(i) > length(s) THEN '' ELSE substring(s, i) END",
    "t_substr3(s, i, n) AS CASE WHEN i = 0 OR n <= 0 OR abs(i) > length(s) THEN ''"
    " ELSE substring(s, i, n) END",
    # by code points: DuckDB reverses by what is seen as one character
    "t_reverse(s) AS CASE WHEN length(s) = strlen(s) THEN reverse(s) ELSE "
    + _fail("NOT_SUPPORTED", "'reverse of a text that is not ASCII'", "VARCHAR")
    + " END",
    f"t_trim(s) AS trim(s, {_WHITESPACE})",
    f"t_ltrim(s) AS ltrim(s, {_WHITESPACE})",
    f"t_rtrim(s) AS rtrim(s, {_WHITESPACE})",
    "t_lpad(s, n, p) AS CASE WHEN n < 0 OR p = '' THEN "
    + _fail("INVALID_FUNCTION_ARGUMENT", "'Padding string must not be empty'", "VARCHAR")
    + " ELSE lpad(s, CAST(n AS INTEGER), p) END",
    "t_rpad(s, n, p) AS CASE WHEN n < 0 OR p = '' THEN "
    + _fail("INVALID_FUNCTION_ARGUMENT", "'Padding string must not be empty'", "VARCHAR")
    + " ELSE rpad(s, CAST(n AS INTEGER), p) END",
    "t_split_part(s, d, n) AS CASE WHEN n <= 0 OR d = '' THEN "
    + _fail("INVALID_FUNCTION_ARGUMENT", "'Index must be greater than zero'", "VARCHAR")
    + " ELSE list_extract(string_split(s, d), n) END",
    "t_split(s, d) AS CASE WHEN d = '' THEN "
    + _fail("INVALID_FUNCTION_ARGUMENT", "'The delimiter may not be the empty string'", "VARCHAR[]")
    + " ELSE string_split(s, d) END",
    # numbers
    "t_round(x) AS CAST(round(x) AS BIGINT)",
    # half a unit goes up, before 1970 as after it; integer division alone would cut towards 1970
    "t_rounded(t, u) AS make_timestamp(epoch_us(t) + u // 2"
    " - ((epoch_us(t) + u // 2) % u + u) % u)",
    # whole units between, as a clock that is full counts; DuckDB's date_diff counts boundaries,
    # and its date_sub takes the last days of two months for the same day
    "t_months(a, b) AS CASE WHEN b >= a AND day(a) > day(b) AND day(b) = day(last_day(b))"
    " OR b < a AND day(b) > day(a) AND day(a) = day(last_day(a)) THEN "
    # whether a month is full there is told in two ways
    + _fail("NOT_SUPPORTED", "'date_diff of months to the end of a shorter month'", "BIGINT")
    + " ELSE (CAST((year(b) - year(a)) * 12 + month(b) - month(a) AS BIGINT)"
    " - CASE WHEN b >= a AND (day(b) < day(a) OR day(b) = day(a) AND"
    " CAST(CAST(b AS TIMESTAMP) AS TIME) < CAST(CAST(a AS TIMESTAMP) AS TIME)) THEN 1"
    " WHEN b < a AND (day(b) > day(a) OR day(b) = day(a) AND"
    " CAST(CAST(b AS TIMESTAMP) AS TIME) > CAST(CAST(a AS TIMESTAMP) AS TIME)) THEN -1"
    " ELSE 0 END) END",
    "t_micros(a, b) AS (epoch_us(b) - epoch_us(a))",
    # arrays and maps
    "t_at(a, i) AS CASE WHEN i = 0 THEN NULL ELSE list_extract(a, i) END",
    "t_slice(a, i, n) AS CASE WHEN abs(i) > len(a) OR n = 0 THEN [] ELSE list_slice(a,"
    " CASE WHEN i < 0 THEN len(a) + i + 1 ELSE i END,"
    " CASE WHEN i < 0 THEN len(a) + i ELSE i - 1 END + n) END",
    "t_contains(a, x) AS CASE WHEN a IS NULL OR x IS NULL THEN NULL"
    " WHEN list_contains(a, x) THEN true"
    " WHEN len(a) > list_count(a) THEN NULL ELSE false END",
)
