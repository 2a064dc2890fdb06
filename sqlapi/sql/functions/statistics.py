"""Aggregates of numbers: correlation, regression, moments, percentiles."""

from __future__ import annotations

from collections.abc import Sequence

from sqlapi.sql.binding import applied
from sqlapi.sql.code import Code, coerced, failing
from sqlapi.sql.functions.aggregates import AGGREGATES, Aggregate, Call
from sqlapi.sql.functions.registry import wrong_arguments
from sqlapi.sql.types import BIGINT, DOUBLE, REAL, Type, array

__all__: list[str] = []


def _floating(name: str, codes: Sequence[Code]) -> Type:
    """Return the type in which Trino computes: real, unless one argument is a double."""
    if not all(code.type.is_numeric for code in codes):
        raise wrong_arguments(name, codes)
    return DOUBLE if any(code.type == DOUBLE for code in codes) else REAL


def _as_double(code: Code, kind: Type) -> str:
    """Return the value as a double, with no more digits than `kind` has."""
    return f"CAST({coerced(code, kind).sql} AS DOUBLE)"


def _of_pairs(name: str) -> Aggregate:
    def make(call: Call, codes: Sequence[Code]) -> Code:
        if len(codes) != 2:
            raise wrong_arguments(name, codes)
        kind = _floating(name, codes)
        y, x = (_as_double(code, kind) for code in codes)
        made = Code(call(f"{name}({y}, {x})"), DOUBLE)

        def without_nan(code: Code) -> Code:
            # the result of too few pairs, or of equal values, is NULL
            found = f"CASE WHEN NOT isnan({code.sql}) THEN {code.sql} END"
            return Code(f"CAST({found} AS {kind.duck})", kind)

        return applied(without_nan, made)

    return make


def _moment(name: str) -> Aggregate:
    def make(call: Call, codes: Sequence[Code]) -> Code:
        if len(codes) != 1:
            raise wrong_arguments(name, codes)
        value = coerced(codes[0], DOUBLE).sql
        listed = call(f"list({value})")

        def nan_again(code: Code) -> Code:
            # DuckDB turns NaN from Python into NULL
            made = f"t_{name}({code.sql})"
            least = 3 if name == "skewness" else 4
            nan = f"CASE WHEN list_count({code.sql}) >= {least} THEN CAST('nan' AS DOUBLE) END"
            return Code(f"coalesce({made}, {nan})", DOUBLE)

        return applied(nan_again, Code(listed, array(DOUBLE)))

    return make


def _geometric_mean(call: Call, codes: Sequence[Code]) -> Code:
    if len(codes) != 1 or not codes[0].type.is_numeric:
        raise wrong_arguments("geometric_mean", codes)
    kind = DOUBLE if codes[0].type.is_integer else _floating("geometric_mean", codes)
    value = coerced(codes[0], DOUBLE).sql
    # DuckDB fails for the logarithms that are infinite or NaN in Java
    logarithm = (
        f"CASE WHEN {value} > 0 THEN ln({value}) WHEN {value} = 0 THEN CAST('-inf' AS DOUBLE)"
        f" WHEN {value} IS NOT NULL THEN CAST('nan' AS DOUBLE) END"
    )
    mean = f"exp({call(f'sum({logarithm})')} / {call(f'count({value})')})"
    return Code(f"CAST({mean} AS {kind.duck})", kind)


def _approx_percentile(call: Call, codes: Sequence[Code]) -> Code:
    """Return the exact percentile, which Trino's digest gives as long as it merges no values."""
    if len(codes) != 2 or not codes[0].type.is_numeric:
        raise wrong_arguments("approx_percentile", codes)
    value, wanted = codes
    kind = BIGINT if value.type.is_integer else _floating("approx_percentile", [value])
    sql = coerced(value, kind).sql
    if kind != BIGINT:
        refused = failing("NOT_SUPPORTED", "'approx_percentile of NaN or Infinity'", kind.duck)
        sql = f"CASE WHEN {sql} IS NULL OR isfinite({sql}) THEN {sql} ELSE {refused} END"
    ordered = f"list_sort(list_filter({call(f'list({sql})')}, lambda t_v: t_v IS NOT NULL))"
    listed = Code(ordered, array(kind))
    if wanted.type.name != "array":

        def at(listed: Code, share: Code) -> Code:
            return Code(f"t_percentile({listed.sql}, {share.sql})", kind)

        return applied(at, listed, coerced(wanted, DOUBLE))

    def at_each(listed: Code, shares: Code) -> Code:
        each = f"list_transform({shares.sql}, lambda t_q: t_percentile({listed.sql}, t_q))"
        return Code(f"CASE WHEN len({listed.sql}) > 0 THEN {each} END", array(kind))

    return applied(at_each, listed, coerced(wanted, array(DOUBLE)))


AGGREGATES.update(
    {
        name: _of_pairs(name)
        for name in ("corr", "covar_pop", "covar_samp", "regr_slope", "regr_intercept")
    }
)
AGGREGATES["skewness"] = _moment("skewness")
AGGREGATES["kurtosis"] = _moment("kurtosis")
AGGREGATES["geometric_mean"] = _geometric_mean
AGGREGATES["approx_percentile"] = _approx_percentile
