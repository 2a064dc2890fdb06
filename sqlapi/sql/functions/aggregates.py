"""Aggregate and window functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlapi.sql.binding import applied
from sqlapi.sql.code import Code, coerced, failing
from sqlapi.sql.functions.registry import wrong_arguments
from sqlapi.sql.operators import quotient
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DAY_TO_SECOND,
    DOUBLE,
    MAX_PRECISION,
    REAL,
    UNKNOWN,
    YEAR_TO_MONTH,
    array,
    common,
    decimal,
    map_of,
)

__all__ = ["AGGREGATES", "WINDOWS", "Aggregate", "Call"]

Call = Callable[[str], str]
"""Function that adds DISTINCT, ORDER BY, FILTER and OVER to a call of a DuckDB aggregate."""
Aggregate = Callable[[Call, Sequence[Code]], Code]

AGGREGATES: dict[str, Aggregate] = {}
WINDOWS: dict[str, Callable[[Sequence[Code]], Code]] = {}


def _one(name: str, codes: Sequence[Code]) -> Code:
    if len(codes) != 1:
        raise wrong_arguments(name, codes)
    return codes[0]


def _sum(call: Call, codes: Sequence[Code]) -> Code:
    code = _one("sum", codes)
    if code.type in (DAY_TO_SECOND, YEAR_TO_MONTH):
        return Code(f"CAST({call(f'sum({code.sql})')} AS BIGINT)", code.type)
    if code.type.is_integer:
        return Code(f"CAST({call(f'sum({code.sql})')} AS BIGINT)", BIGINT)
    if code.type.name == "decimal":
        kind = decimal(MAX_PRECISION, code.type.scale)
        return Code(f"CAST({call(f'sum({code.sql})')} AS {kind.duck})", kind)
    if code.type == DOUBLE:
        return Code(call(f"sum({code.sql})"), DOUBLE)
    if code.type == REAL:
        total = call(f"sum(CAST({code.sql} AS DOUBLE))")
        return Code(f"CAST({total} AS FLOAT)", REAL)
    raise wrong_arguments("sum", codes)


def _avg(call: Call, codes: Sequence[Code]) -> Code:
    code = _one("avg", codes)
    if code.type in (DAY_TO_SECOND, YEAR_TO_MONTH):
        return Code(f"CAST(floor({call(f'avg({code.sql})')} + 0.5) AS BIGINT)", code.type)
    if code.type.is_integer:
        return Code(call(f"avg({code.sql})"), DOUBLE)
    if code.type == DOUBLE:
        return Code(call(f"avg({code.sql})"), DOUBLE)
    if code.type == REAL:
        mean = call(f"avg(CAST({code.sql} AS DOUBLE))")
        return Code(f"CAST({mean} AS FLOAT)", REAL)
    if code.type.name == "decimal":
        wide = decimal(MAX_PRECISION, code.type.scale)
        total = Code(f"CAST({call(f'sum({code.sql})')} AS {wide.duck})", wide)
        number = Code(f"CAST({call(f'count({code.sql})')} AS DECIMAL(19,0))", decimal(19))

        def mean_of(total: Code, number: Code) -> Code:
            made = quotient(total, number, code.type).sql
            return Code(f"CASE WHEN {number.sql} = 0 THEN NULL ELSE {made} END", code.type)

        return applied(mean_of, total, number)
    raise wrong_arguments("avg", codes)


def _count(call: Call, codes: Sequence[Code]) -> Code:
    if len(codes) > 1:
        raise wrong_arguments("count", codes)
    return Code(call(f"count({codes[0].sql if codes else '*'})"), BIGINT)


def _count_if(call: Call, codes: Sequence[Code]) -> Code:
    condition = coerced(_one("count_if", codes), BOOLEAN).sql
    return Code(call(f"count(CASE WHEN {condition} THEN 1 END)"), BIGINT)


def _of_same(name: str, duck: str) -> Aggregate:
    def make(call: Call, codes: Sequence[Code]) -> Code:
        code = _one(name, codes)
        if name in ("min", "max") and _is_plain_array(code):
            return _of_arrays(duck, call, code)
        if name in ("min", "max") and (code.type.args or code.type.name in ("json", "unknown")):
            raise wrong_arguments(name, codes)
        if name in ("min", "max") and code.type.name in ("double", "real"):
            # NaN only if there is no other number; in DuckDB, NaN is the largest number
            real = call(f"{duck}({_without_nan(code)})")
            return Code(f"coalesce({real}, {call(f'{duck}({code.sql})')})", code.type)
        return Code(call(f"{duck}({code.sql})"), code.type)

    return make


def _is_plain_array(code: Code) -> bool:
    """Return whether it is an array whose order is the same in Trino and DuckDB."""
    return code.type.name == "array" and not (
        code.type.args[0].args or code.type.args[0].name in ("double", "real", "json", "unknown")
    )


def _of_arrays(duck: str, call: Call, code: Code) -> Code:
    refused = failing("NOT_SUPPORTED", "'order of arrays with NULL'", code.type.duck)
    null = f"len({code.sql}) > list_count({code.sql})"
    return Code(call(f"{duck}(CASE WHEN {null} THEN {refused} ELSE {code.sql} END)"), code.type)


def _without_nan(code: Code) -> str:
    return f"CASE WHEN NOT isnan({code.sql}) THEN {code.sql} END"


def _boolean(name: str, duck: str) -> Aggregate:
    def make(call: Call, codes: Sequence[Code]) -> Code:
        return Code(call(f"{duck}({coerced(_one(name, codes), BOOLEAN).sql})"), BOOLEAN)

    return make


def _spread(name: str) -> Aggregate:
    def make(call: Call, codes: Sequence[Code]) -> Code:
        return Code(call(f"{name}({coerced(_one(name, codes), DOUBLE).sql})"), DOUBLE)

    return make


def _by(name: str, duck: str) -> Aggregate:
    def make(call: Call, codes: Sequence[Code]) -> Code:
        if len(codes) != 2 or codes[1].type.args:
            raise wrong_arguments(name, codes)
        value, key = codes
        made = call(f"{duck}({value.sql}, {key.sql})")
        if key.type.name in ("double", "real"):
            by = _without_nan(key)
            first = call(f"{duck}({value.sql}, {by})")
            made = f"CASE WHEN {call(f'count({by})')} > 0 THEN {first} ELSE {made} END"
        return Code(made, value.type)

    return make


def _array_agg(call: Call, codes: Sequence[Code]) -> Code:
    code = _one("array_agg", codes)
    if code.type == UNKNOWN:
        raise wrong_arguments("array_agg", codes)
    return Code(call(f"list({code.sql})"), array(code.type))


_EXACT_VALUES = 240
"""Number of distinct values up to which Trino's estimate is exact."""


def _approx_distinct(call: Call, codes: Sequence[Code]) -> Code:
    counted = Code(call(f"count(DISTINCT {_one('approx_distinct', codes).sql})"), BIGINT)
    hint = f"'approx_distinct of more than {_EXACT_VALUES} values: use count(DISTINCT …)'"
    refused = failing("NOT_SUPPORTED", hint, "BIGINT")

    def exact(code: Code) -> Code:
        made = f"CASE WHEN {code.sql} > {_EXACT_VALUES} THEN {refused} ELSE {code.sql} END"
        return Code(made, BIGINT)

    return applied(exact, counted)


def _bits(name: str, duck: str) -> Aggregate:
    def make(call: Call, codes: Sequence[Code]) -> Code:
        return Code(call(f"{duck}({coerced(_one(name, codes), BIGINT).sql})"), BIGINT)

    return make


def _map_agg(call: Call, codes: Sequence[Code]) -> Code:
    if len(codes) != 2 or codes[0].type.args or codes[0].type.name in ("double", "real", "unknown"):
        raise wrong_arguments("map_agg", codes)
    key, value = codes
    kind = map_of(key.type, value.type)
    # the first value of a key counts; a NULL key has no entry
    given = call(f"list(CASE WHEN {key.sql} IS NOT NULL THEN"
                 f" struct_pack(k := {key.sql}, v := {value.sql}) END)")  # fmt: skip
    made = f"t_map_of_first({given})"
    return Code(f"CAST({made} AS {kind.duck})", kind)


def _histogram(call: Call, codes: Sequence[Code]) -> Code:
    code = _one("histogram", codes)
    if code.type.args or code.type.name in ("double", "real", "json", "unknown"):
        raise wrong_arguments("histogram", codes)
    kind = map_of(code.type, BIGINT)
    return Code(f"CAST({call(f'histogram({code.sql})')} AS {kind.duck})", kind)


AGGREGATES.update(
    {
        "sum": _sum,
        "avg": _avg,
        "count": _count,
        "count_if": _count_if,
        "min": _of_same("min", "min"),
        "max": _of_same("max", "max"),
        "any_value": _of_same("any_value", "any_value"),
        "arbitrary": _of_same("arbitrary", "any_value"),
        "bool_and": _boolean("bool_and", "bool_and"),
        "every": _boolean("every", "bool_and"),
        "bool_or": _boolean("bool_or", "bool_or"),
        "stddev": _spread("stddev_samp"),
        "stddev_samp": _spread("stddev_samp"),
        "stddev_pop": _spread("stddev_pop"),
        "variance": _spread("var_samp"),
        "var_samp": _spread("var_samp"),
        "var_pop": _spread("var_pop"),
        "min_by": _by("min_by", "arg_min_null"),
        "max_by": _by("max_by", "arg_max_null"),
        "array_agg": _array_agg,
        "approx_distinct": _approx_distinct,
        "histogram": _histogram,
        "map_agg": _map_agg,
        "bitwise_and_agg": _bits("bitwise_and_agg", "bit_and"),
        "bitwise_or_agg": _bits("bitwise_or_agg", "bit_or"),
        "bitwise_xor_agg": _bits("bitwise_xor_agg", "bit_xor"),
    }
)


def _rank(name: str, gives: str) -> Callable[[Sequence[Code]], Code]:
    def make(codes: Sequence[Code]) -> Code:
        if codes:
            raise wrong_arguments(name, codes)
        return Code(f"{name}()", BIGINT if gives == "bigint" else DOUBLE)

    return make


def _ntile(codes: Sequence[Code]) -> Code:
    return Code(f"ntile({coerced(_one('ntile', codes), BIGINT).sql})", BIGINT)


def _offset(name: str) -> Callable[[Sequence[Code]], Code]:
    def make(codes: Sequence[Code]) -> Code:
        if not 1 <= len(codes) <= 3:
            raise wrong_arguments(name, codes)
        code = codes[0]
        given = [code.sql]
        if len(codes) > 1:
            if not isinstance(codes[1].value, int) or codes[1].value < 0:
                raise wrong_arguments(name, codes)
            given.append(codes[1].sql)
        if len(codes) > 2:
            kind = common(code.type, codes[2].type)
            if kind is None:
                raise wrong_arguments(name, codes)
            given[0] = coerced(code, kind).sql
            given.append(coerced(codes[2], kind).sql)
            code = Code(given[0], kind)
        return Code(f"{name}({', '.join(given)})", code.type)

    return make


def _value(name: str) -> Callable[[Sequence[Code]], Code]:
    def make(codes: Sequence[Code]) -> Code:
        code = _one(name, codes)
        return Code(f"{name}({code.sql})", code.type)

    return make


def _nth(codes: Sequence[Code]) -> Code:
    if len(codes) != 2 or not isinstance(codes[1].value, int) or codes[1].value < 1:
        raise wrong_arguments("nth_value", codes)
    return Code(f"nth_value({codes[0].sql}, {codes[1].sql})", codes[0].type)


WINDOWS.update(
    {
        **{name: _rank(name, "bigint") for name in ("row_number", "rank", "dense_rank")},
        **{name: _rank(name, "double") for name in ("percent_rank", "cume_dist")},
        "ntile": _ntile,
        "lag": _offset("lag"),
        "lead": _offset("lead"),
        "first_value": _value("first_value"),
        "last_value": _value("last_value"),
        "nth_value": _nth,
    }
)
