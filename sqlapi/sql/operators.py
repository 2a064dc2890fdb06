"""Arithmetic, comparison and concatenation, with Trino's result types."""

from __future__ import annotations

from sqlapi.sql.code import Code, coerced, failing, not_applicable
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DAY_TO_SECOND,
    DOUBLE,
    MAX_PRECISION,
    UNKNOWN,
    VARCHAR,
    YEAR_TO_MONTH,
    Type,
    array,
    as_decimal,
    common,
    decimal,
    timestamp,
)

__all__ = ["arithmetic", "compare", "concatenated", "divided", "negated", "quotient"]

_DAY_MS = 86_400_000
_COMPARABLE = {"map", "json"}


def compare(operator: str, left: Code, right: Code) -> Code:
    """Translate `left operator right`. Raises SqlError for types without a common one."""
    kind = common(left.type, right.type)
    if kind is None:
        raise not_applicable(operator, [left, right])
    if kind.name in ("row", "array") and operator in ("=", "<>"):
        made = _composed_equal(coerced(left, kind), coerced(right, kind))
        return made if operator == "=" else Code(f"(NOT {made.sql})", BOOLEAN)
    if kind.name == "array" and operator in ("<", "<=", ">", ">=") and _is_plain_list(kind):
        return _arrays_in_order(operator, coerced(left, kind), coerced(right, kind))
    is_json = kind.name == "json" and operator in ("=", "<>")
    if not is_json and not (operator.endswith("DISTINCT FROM") and _is_plain(kind)):
        _check_comparable(kind, operator)
    a, b = coerced(left, kind), coerced(right, kind)
    plain = f"({a.sql} {operator} {b.sql})"
    if (
        kind.name in ("double", "real")
        and "random()" not in plain
        and operator in ("=", "<>", "<", "<=", ">", ">=")
    ):
        # NaN is not equal to, less or greater than anything; in DuckDB it is the largest number
        unequal = "true" if operator == "<>" else "false"
        null = f"{a.sql} IS NOT NULL AND {b.sql} IS NOT NULL"
        nan = f"(isnan({a.sql}) OR isnan({b.sql})) AND {null}"
        plain = f"CASE WHEN {nan} THEN {unequal} ELSE {plain} END"
    return Code(plain, BOOLEAN)


def _is_plain_list(kind: Type) -> bool:
    inner = kind.args[0]
    return not inner.args and inner.name not in ("double", "real", "json", "unknown")


def _arrays_in_order(operator: str, left: Code, right: Code) -> Code:
    null = " OR ".join(f"len({code.sql}) > list_count({code.sql})" for code in (left, right))
    refused = failing("NOT_SUPPORTED", "'order of arrays with NULL'", "BOOLEAN")
    plain = f"({left.sql} {operator} {right.sql})"
    return Code(f"CASE WHEN {null} THEN {refused} ELSE {plain} END", BOOLEAN)


def _composed_equal(left: Code, right: Code) -> Code:
    """Return a test of whether two rows or arrays of one type are equal, part by part."""
    kind = left.type
    if kind.name == "row":
        parts = [
            compare(
                "=",
                Code(f"struct_extract({left.sql}, 'f{i}')", part),
                Code(f"struct_extract({right.sql}, 'f{i}')", part),
            ).sql
            for i, part in enumerate(kind.args)
        ]
        return Code(f"({' AND '.join(parts)})", BOOLEAN)
    if kind.args[0].name in ("double", "real"):
        return Code(f"t_double_arrays_equal({left.sql}, {right.sql})", BOOLEAN)
    if kind.args[0].args or kind.args[0].name in ("json", "unknown"):
        raise SqlError("NOT_SUPPORTED", f"Operator = of {kind} is not supported")
    return Code(f"t_arrays_equal({left.sql}, {right.sql})", BOOLEAN)


def _is_plain(kind: Type) -> bool:
    """Return whether DuckDB distinguishes the type's values, with NULL, as Trino does."""
    if kind.name not in ("array", "row"):
        return kind.name not in ("double", "real", *_COMPARABLE)
    return all(_is_plain(part) for part in kind.args)


def _check_comparable(kind: Type, operator: str) -> None:
    if kind.name in _COMPARABLE or kind.args:
        # NULL within arrays and rows: Trino's result is unknown, DuckDB orders it
        raise SqlError("NOT_SUPPORTED", f"Operator {operator} of {kind} is not supported")


def negated(code: Code) -> Code:
    if not code.type.is_numeric and code.type not in (DAY_TO_SECOND, YEAR_TO_MONTH):
        raise SqlError("TYPE_MISMATCH", f"Cannot negate {code.type}")
    value = -code.value if isinstance(code.value, int) else None
    return Code(f"(-{code.sql})", code.type, value)


def arithmetic(operator: str, left: Code, right: Code) -> Code:
    """Translate `+ - * / %`. Raises SqlError for types that do not fit."""
    if moved := _moved(operator, left, right):
        return moved
    if {left.type, right.type} & {DAY_TO_SECOND, YEAR_TO_MONTH} or not _numbers(left, right):
        raise not_applicable(operator, [left, right])
    kind = common(left.type, right.type)
    if kind is None or kind == UNKNOWN:
        raise not_applicable(operator, [left, right])
    if kind.name == "decimal":
        return _decimals(operator, coerce_decimal(left), coerce_decimal(right))
    a, b = coerced(left, kind).sql, coerced(right, kind).sql
    if operator == "/":
        return divided(Code(a, kind), Code(b, kind))
    if operator == "%":
        if kind.is_integer:
            zero = _by_zero(kind.duck)
            return Code(f"CASE WHEN {b} = 0 THEN {zero} ELSE {a} % {b} END", kind)
        return Code(f"fmod({a}, {b})" if kind == DOUBLE else f"({a} % {b})", kind)
    return Code(f"CAST({a} {operator} {b} AS {kind.duck})", kind)


def _numbers(*codes: Code) -> bool:
    return all(code.type.is_numeric or code.type == UNKNOWN for code in codes)


def _by_zero(duck: str) -> str:
    return failing("DIVISION_BY_ZERO", "'Division by zero'", duck)


def divided(left: Code, right: Code) -> Code:
    """Return the quotient of two numbers of one type other than decimal."""
    kind = left.type
    if kind.is_integer:
        zero = _by_zero(kind.duck)
        return Code(
            f"CASE WHEN {right.sql} = 0 THEN {zero} "
            f"ELSE CAST({left.sql} // {right.sql} AS {kind.duck}) END",
            kind,
        )
    return Code(f"({left.sql} / {right.sql})", kind)


def coerce_decimal(code: Code) -> Code:
    if code.type == UNKNOWN:
        return coerced(code, decimal(1))
    return coerced(code, as_decimal(code.type))


def _size(kind: Type) -> int:
    return kind.size or 0


def _decimals(operator: str, left: Code, right: Code) -> Code:
    a, b = left.type, right.type
    scale = max(a.scale, b.scale)
    whole = max(_size(a) - a.scale, _size(b) - b.scale)
    if operator in "+-":
        kind = decimal(min(MAX_PRECISION, whole + scale + 1), scale)
        x, y = coerced_to(left, kind), coerced_to(right, kind)
        return Code(f"CAST({x} {operator} {y} AS {kind.duck})", kind)
    if operator == "*":
        if a.scale + b.scale > MAX_PRECISION:
            raise SqlError("NOT_SUPPORTED", f"Product of {a} and {b} is not supported")
        kind = decimal(min(MAX_PRECISION, _size(a) + _size(b)), a.scale + b.scale)
        return Code(f"CAST({left.sql} * {right.sql} AS {kind.duck})", kind)
    if operator == "%":
        kind = decimal(min(_size(a) - a.scale, _size(b) - b.scale) + scale, scale)
        wide = decimal(MAX_PRECISION, scale)
        x, y = coerced_to(left, wide), coerced_to(right, wide)
        x, y = f"{x} * {10**scale}::HUGEINT", f"{y} * {10**scale}::HUGEINT"
        x, y = f"CAST({x} AS HUGEINT)", f"CAST({y} AS HUGEINT)"
        unscaled = f"CASE WHEN {y} = 0 THEN {_by_zero('HUGEINT')} ELSE {x} % {y} END"
        return Code(scaled(unscaled, kind), kind)
    kind = decimal(min(MAX_PRECISION, _size(a) + b.scale + max(b.scale - a.scale, 0)), scale)
    return quotient(left, right, kind)


def coerced_to(code: Code, kind: Type) -> str:
    return code.sql if code.type.duck == kind.duck else f"CAST({code.sql} AS {kind.duck})"


def quotient(left: Code, right: Code, kind: Type) -> Code:
    """Divide two decimals exactly; round half of the last digit away from zero."""
    shift = kind.scale + right.type.scale - left.type.scale
    x = unscaled(left)
    y = unscaled(right)
    if shift >= 0:
        x = f"({x} * {10**shift}::HUGEINT)"
    else:
        y = f"({y} * {10**-shift}::HUGEINT)"
    rounded = (
        f"(({x}) // ({y}) + CASE WHEN abs(({x}) % ({y})) * 2 >= abs({y})"
        f" THEN sign({x}) * sign({y}) ELSE 0 END)::HUGEINT"
    )
    value = f"CASE WHEN {y} = 0 THEN {_by_zero('HUGEINT')} ELSE {rounded} END"
    return Code(scaled(value, kind), kind)


def unscaled(code: Code) -> str:
    """Return a decimal's digits as an integer."""
    scale = code.type.scale
    if not scale:
        return f"CAST({code.sql} AS HUGEINT)"
    wide = f"CAST({code.sql} AS DECIMAL({MAX_PRECISION},{scale}))"
    return f"CAST({wide} * CAST({10**scale} AS DECIMAL({scale + 1},0)) AS HUGEINT)"


def scaled(digits: str, kind: Type) -> str:
    """Return the decimal with these digits."""
    scale = kind.scale
    if not scale:
        return f"CAST({digits} AS {kind.duck})"
    unit = f"CAST('0.{'0' * (scale - 1)}1' AS DECIMAL({scale},{scale}))"
    whole = f"CAST({digits} AS DECIMAL({MAX_PRECISION - scale},0))"
    return f"CAST({whole} * {unit} AS {kind.duck})"


def _moved(  # noqa: PLR0911, PLR0912
    operator: str, left: Code, right: Code
) -> Code | None:
    """Translate arithmetic of dates, timestamps and intervals; return None for other types."""
    a, b = left.type, right.type
    intervals = (DAY_TO_SECOND, YEAR_TO_MONTH)
    if operator == "+" and a in intervals and b.is_time:
        return _moved("+", right, left)
    if operator not in ("+", "-"):
        if operator == "/" and a in intervals and isinstance(right.value, int) and right.value:
            return Code(f"CAST(trunc({left.sql} / CAST({right.sql} AS DOUBLE)) AS BIGINT)", a)
        if operator == "*" and a in intervals and b.is_integer:
            return Code(f"({left.sql} * {right.sql})", a)
        if operator == "*" and b in intervals and a.is_integer:
            return Code(f"({left.sql} * {right.sql})", b)
        return None
    if a in intervals and a == b:
        return Code(f"({left.sql} {operator} {right.sql})", a)
    if operator == "-" and a.is_time and b.is_time:
        kind = common(a, b)
        if kind is None:
            return None
        x, y = coerced(left, kind).sql, coerced(right, kind).sql
        if kind.name == "date":
            return Code(f"(CAST({x} - {y} AS BIGINT) * {_DAY_MS})", DAY_TO_SECOND)
        return Code(f"(epoch_ms({x}) - epoch_ms({y}))", DAY_TO_SECOND)
    if not a.is_time or b not in intervals:
        return None
    if a.zone not in (None, "UTC"):
        raise SqlError("NOT_SUPPORTED", f"Operator {operator} of {a} is not supported")
    if b == YEAR_TO_MONTH:
        step = f"to_months(CAST({right.sql} AS INTEGER))"
        if a.name == "date":
            return Code(f"CAST({left.sql} {operator} {step} AS DATE)", a)
        return Code(f"({left.sql} {operator} {step})", a)
    if a.name == "date":
        uneven = failing(
            "INVALID_FUNCTION_ARGUMENT",
            "'Cannot add hour, minutes or seconds to a date'",
            "INTEGER",
        )
        days = (
            f"CASE WHEN {right.sql} % {_DAY_MS} <> 0 THEN {uneven}"
            f" ELSE CAST({right.sql} // {_DAY_MS} AS INTEGER) END"
        )
        return Code(f"({left.sql} {operator} {days})", a)
    kind = (
        a if (a.size or 0) >= 3 else (Type(a.name, size=3, zone=a.zone) if a.zone else timestamp(3))
    )
    return Code(f"({left.sql} {operator} to_milliseconds({right.sql}))", kind)


def concatenated(left: Code, right: Code) -> Code:
    """Translate `||` of strings, arrays and binary values. Raises SqlError."""
    a, b = left.type, right.type
    if "array" in (a.name, b.name):
        if a.name != b.name or a.args[0] == b or a == b.args[0]:
            return _with_element(left, right)
        element = common(a.args[0], b.args[0])
        if element is None or (UNKNOWN in (a.args[0], b.args[0]) and a != b):
            # Trino does not choose between an array and an element of it
            raise not_applicable("||", [left, right])
        kind = array(element)
        x, y = coerced(left, kind).sql, coerced(right, kind).sql
        # DuckDB treats NULL as an empty list
        return Code(f"CASE WHEN {x} IS NULL OR {y} IS NULL THEN NULL ELSE {x} || {y} END", kind)
    if a.name == b.name == "varchar":
        return Code(f"({left.sql} || {right.sql})", VARCHAR)
    if a.name == b.name == "varbinary":
        return Code(f"({left.sql} || {right.sql})", a)
    raise not_applicable("||", [left, right])


def _with_element(left: Code, right: Code) -> Code:
    """Return an array with an element prepended or appended. Raises SqlError."""
    whole, one = (left, right) if left.type.name == "array" else (right, left)
    element = common(whole.type.args[0], one.type)
    if element is None or one.type.name == "unknown" or element.args:
        raise SqlError(
            "NOT_SUPPORTED", f"Operator || of {left.type} and {right.type} is not supported"
        )
    kind = array(element)
    x, y = coerced(whole, kind).sql, coerced(one, element).sql
    both = f"{x} || [{y}]" if whole is left else f"[{y}] || {x}"
    return Code(f"CASE WHEN {x} IS NULL THEN NULL ELSE {both} END", kind)


def as_bigint(code: Code) -> str:
    return coerced(code, BIGINT).sql
