"""DuckDB macros for functions whose DuckDB version differs from Trino's in some case."""

from __future__ import annotations

from sqlapi.sql.code import failing

__all__ = ["LONGEST_PADDED", "LONGEST_TEXT", "MACROS", "MOST_ELEMENTS", "TOO_LONG_ONLY"]

LONGEST_PADDED = 1_000_000
"""Largest number of characters to which a string is padded."""
LONGEST_TEXT = 10_000_000
"""Largest number of characters that a function makes from shorter strings."""
MOST_ELEMENTS = 10_000
"""Largest number of elements that `sequence` and `repeat` make, as in Trino."""
_KIND = "INVALID_FUNCTION_ARGUMENT"

_WHITESPACE = "".join(
    f"chr({c})||"
    for c in (
        *range(9, 14), *range(28, 33), 0x1680, *range(0x2000, 0x2007), *range(0x2008, 0x200B),
        0x2028, 0x2029, 0x205F, 0x3000,
    )
)[:-2]  # fmt: skip


def _fail(kind: str, message: str, duck: str) -> str:
    return failing(kind, message, duck)


_TOO_LONG = _fail(_KIND, f"'A result of more than {LONGEST_TEXT} characters'", "VARCHAR")
TOO_LONG_ONLY = ("t_replace", "t_regexp_replace", "t_join")
"""Macros that fail only because of the result's length."""
MACROS: tuple[str, ...] = (
    # true if all are true, by the rules of AND
    "t_all(v) AS CASE WHEN list_contains(v, false) THEN false"
    " WHEN len(v) > list_count(v) THEN NULL ELSE true END",
    # Trino returns '' for a start of 0 or before the string; DuckDB returns the part that exists.
    "t_substr(s, i) AS CASE WHEN i = 0 OR abs(i) > length(s) THEN '' ELSE substring(s, i) END",
    "t_substr3(s, i, n) AS CASE WHEN i = 0 OR n <= 0 OR abs(i) > length(s) THEN ''"
    " ELSE substring(s, i, n) END",
    # reverse by code points: DuckDB reverses by grapheme clusters
    "t_reverse(s) AS CASE WHEN length(s) = strlen(s) THEN reverse(s) ELSE t_reversed(s) END",
    # Java keeps the sharp s, which has no upper-case letter in most texts
    "t_upper(s) AS CASE WHEN contains(s, 'ß')"
    " THEN replace(upper(replace(s, 'ß', chr(57344))), chr(57344), 'ß') ELSE upper(s) END",
    "t_from_hex(s) AS CASE WHEN length(s) % 2 = 1 OR NOT regexp_full_match(s, '[0-9a-fA-F]*') THEN "
    + _fail("INVALID_FUNCTION_ARGUMENT", "'Input string is not valid hexadecimal'", "BLOB")
    + " ELSE unhex(s) END",
    f"t_trim(s) AS trim(s, {_WHITESPACE})",
    f"t_ltrim(s) AS ltrim(s, {_WHITESPACE})",
    f"t_rtrim(s) AS rtrim(s, {_WHITESPACE})",
    "t_lpad(s, n, p) AS CASE WHEN p = '' THEN "
    + _fail(_KIND, "'Padding string must not be empty'", "VARCHAR")
    + f" WHEN n < 0 OR n > {LONGEST_PADDED} THEN "
    + _fail(_KIND, f"'Target length must be in the range [0..{LONGEST_PADDED}]'", "VARCHAR")
    + f" ELSE lpad(s, CAST(least(n, {LONGEST_PADDED}) AS INTEGER), p) END",
    "t_rpad(s, n, p) AS CASE WHEN p = '' THEN "
    + _fail(_KIND, "'Padding string must not be empty'", "VARCHAR")
    + f" WHEN n < 0 OR n > {LONGEST_PADDED} THEN "
    + _fail(_KIND, f"'Target length must be in the range [0..{LONGEST_PADDED}]'", "VARCHAR")
    + f" ELSE rpad(s, CAST(least(n, {LONGEST_PADDED}) AS INTEGER), p) END",
    # a result that is too long must not be computed: DuckDB folds constants before it tests CASE
    "t_or_nothing(is_long, s) AS CASE WHEN is_long THEN '' ELSE s END",
    "t_long_replaced(s, a, b) AS (length(b) > length(a) AND length(s) * length(b) >"
    f" {LONGEST_TEXT} * length(a))",
    f"t_long_times(n, s) AS (length(s) > 1 AND n * length(s) > {LONGEST_TEXT})",
    f"t_replace(s, a, b) AS CASE WHEN t_long_replaced(s, a, b) THEN {_TOO_LONG}"
    " ELSE replace(s, a, t_or_nothing(t_long_replaced(s, a, b), b)) END",
    f"t_regexp_replace(s, p, r) AS CASE WHEN t_long_times(length(s), r) THEN {_TOO_LONG}"
    " ELSE regexp_replace(s, p, t_or_nothing(t_long_times(length(s), r), r), 'g') END",
    f"t_join(a, s) AS CASE WHEN t_long_times(len(a), s) THEN {_TOO_LONG}"
    " ELSE array_to_string(CASE WHEN t_long_times(len(a), s) THEN [] ELSE a END, s) END",
    "t_split_part(s, d, n) AS CASE WHEN n <= 0 OR d = '' THEN "
    + _fail("INVALID_FUNCTION_ARGUMENT", "'Index must be greater than zero'", "VARCHAR")
    + " ELSE list_extract(string_split(s, d), n) END",
    "t_split(s, d) AS CASE WHEN d = '' THEN "
    + _fail("INVALID_FUNCTION_ARGUMENT", "'The delimiter may not be the empty string'", "VARCHAR[]")
    + " ELSE string_split(s, d) END",
    # numbers
    "t_round(x) AS CAST(round(x) AS BIGINT)",
    # half a unit is rounded up, also before 1970; integer division alone would round towards 1970
    "t_rounded(t, u) AS make_timestamp(epoch_us(t) + u // 2"
    " - ((epoch_us(t) + u // 2) % u + u) % u)",
    # the number of full months; DuckDB's date_diff counts boundaries, and its date_sub treats
    # the last days of two months as the same day.
    # A month's last day completes a month that began on a day which it does not have.
    "t_whole_months(a, b) AS CAST((year(b) - year(a)) * 12 + month(b) - month(a) AS BIGINT)"
    " - CASE WHEN day(a) > day(b) AND day(b) < day(last_day(b))"
    " OR day(a) >= day(b) AND CAST(CAST(b AS TIMESTAMP) AS TIME)"
    " < CAST(CAST(a AS TIMESTAMP) AS TIME) THEN 1 ELSE 0 END",
    "t_months(a, b) AS CASE WHEN b >= a THEN t_whole_months(a, b) ELSE -t_whole_months(b, a) END",
    "t_micros(a, b) AS (epoch_us(b) - epoch_us(a))",
    # arrays and maps
    "t_arrays_equal(x, y) AS CASE WHEN x IS NULL OR y IS NULL THEN NULL"
    " WHEN len(x) <> len(y) THEN false ELSE t_all(list_transform(x,"
    ' lambda "t_e", "t_n": "t_e" = list_extract(y, "t_n"))) END',
    "t_double_arrays_equal(x, y) AS CASE WHEN x IS NULL OR y IS NULL THEN NULL"
    " WHEN len(x) <> len(y) THEN false ELSE t_all(list_transform(x,"
    ' lambda "t_e", "t_n": "t_e" = list_extract(y, "t_n") AND NOT isnan("t_e"))) END',
    "t_interval(v) AS CASE WHEN v < 0 THEN '-' ELSE '' END || (abs(v) // 86400000) || ' '"
    " || strftime(make_timestamp(abs(v) % 86400000 * 1000), '%H:%M:%S.%g')",
    "t_months_text(v) AS CASE WHEN v < 0 THEN '-' ELSE '' END || (abs(v) // 12) || '-'"
    " || (abs(v) % 12)",
    # in order of first occurrence; DuckDB's own functions have another order and ignore NULL
    "t_distinct(a) AS list_extract(list_transform([struct_pack(a := a, n :="
    ' list_position(list_transform(a, lambda "t_f": "t_f" IS NULL), true))], lambda "t_a":'
    ' list_filter("t_a".a, lambda "t_e", "t_n": CASE WHEN "t_e" IS NULL THEN "t_a".n = "t_n"'
    ' ELSE list_position("t_a".a, "t_e") = "t_n" END)), 1)',
    "t_has(a, x) AS CASE WHEN x IS NULL THEN len(a) > list_count(a) ELSE list_contains(a, x) END",
    "t_intersect(a, b) AS CASE WHEN b IS NOT NULL THEN"
    ' list_filter(t_distinct(a), lambda "t_g": t_has(b, "t_g")) END',
    't_except(a, b) AS list_filter(t_distinct(a), lambda "t_g": NOT t_has(b, "t_g"))',
    # the first entry of each key, in order; it sorts, since a search per key would be quadratic
    't_heads(s) AS list_extract(list_transform([s], lambda "t_s": list_transform('
    'list_filter("t_s", lambda "t_e", "t_n": "t_n" = 1 OR "t_e".k IS DISTINCT FROM'
    ' list_extract("t_s", "t_n" - 1).k), lambda "t_h": "t_h".n)), 1)',
    't_firsts(p) AS list_extract(list_transform([p], lambda "t_p": list_transform('
    'list_sort(t_heads(list_sort(list_transform("t_p",'
    ' lambda "t_e", "t_n": struct_pack(k := "t_e".k, n := "t_n"))))),'
    ' lambda "t_i": list_extract("t_p", "t_i"))), 1)',
    # without a key there is no map
    "t_map_of_first(p) AS CASE WHEN list_count(p) > 0 THEN"
    ' map_from_entries(t_firsts(list_filter(p, lambda "t_g": "t_g" IS NOT NULL))) END',
    't_grouped(p) AS map(list_transform(t_firsts(p), lambda "t_h": "t_h".k),'
    ' list_transform(t_firsts(p), lambda "t_h": list_transform(list_filter(p, lambda "t_e":'
    ' "t_e".k = "t_h".k), lambda "t_e": "t_e".v)))',
    "t_multimap(p) AS CASE WHEN list_count(p) > 0 THEN"
    ' t_grouped(list_filter(p, lambda "t_g": "t_g" IS NOT NULL)) END',
    "t_percentile(a, q) AS CASE WHEN q < 0 OR q > 1 THEN "
    + _fail(_KIND, "'Percentile must be between 0 and 1'", "INTEGER")
    + " ELSE list_extract(a, CAST(least(floor(q * len(a)), len(a) - 1) AS BIGINT) + 1) END",
    "t_bucket(x, a) AS CASE WHEN len(a) = 0 THEN "
    + _fail(_KIND, "'Bins cannot be an empty array'", "BIGINT")
    + " WHEN len(a) > list_count(a) OR isnan(x) OR NOT t_rises(a) THEN "
    + _fail("NOT_SUPPORTED", "'width_bucket with these bins'", "BIGINT")
    + ' WHEN x IS NOT NULL THEN CAST(len(list_filter(a, lambda "t_e": "t_e" <= x)) AS BIGINT) END',
    't_rises(a) AS (NOT list_contains(list_transform(a, lambda "t_e", "t_n": "t_n" > 1 AND'
    ' "t_e" < list_extract(a, "t_n" - 1)), true))',
    "t_at(a, i) AS CASE WHEN i = 0 THEN NULL ELSE list_extract(a, i) END",
    "t_slice(a, i, n) AS CASE WHEN abs(i) > len(a) OR n = 0 THEN [] ELSE list_slice(a,"
    " CASE WHEN i < 0 THEN len(a) + i + 1 ELSE i END,"
    " CASE WHEN i < 0 THEN len(a) + i ELSE i - 1 END + n) END",
    "t_contains(a, x) AS CASE WHEN a IS NULL OR x IS NULL THEN NULL"
    " WHEN list_contains(a, x) THEN true"
    " WHEN len(a) > list_count(a) THEN NULL ELSE false END",
)
