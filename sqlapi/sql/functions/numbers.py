"""Numbers, conditions on them, and bits."""

from __future__ import annotations

from sqlapi.sql.code import Code, coerced
from sqlapi.sql.functions.registry import function, simple, wrong_arguments
from sqlapi.sql.operators import arithmetic, scaled, unscaled
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    MAX_PRECISION,
    TINYINT,
    UNKNOWN,
    VARCHAR,
    Type,
    array,
    as_decimal,
    decimal,
)

D, N = DOUBLE, BIGINT

# DuckDB turns NaN from Python into NULL
_NAN = "CASE WHEN {null} THEN NULL ELSE coalesce({call}, CAST('nan' AS DOUBLE)) END"
for _name in (
    "cbrt", "sinh", "tanh",
    "sqrt", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians",
    "ln", "log2", "log10",
):  # fmt: skip
    simple(_name, [D], D, _NAN.format(call=f"t_{_name}({{0}})", null="{0} IS NULL"))
for _name in ("log", "power", "atan2"):
    _call = _NAN.format(call=f"t_{_name}({{0}}, {{1}})", null="{0} IS NULL OR {1} IS NULL")
    simple("power pow" if _name == "power" else _name, [D, D], D, _call)
simple("pi", [], D, "pi()")
simple("e", [], D, "CAST(2.718281828459045 AS DOUBLE)")
simple("nan", [], D, "CAST('nan' AS DOUBLE)")
simple("infinity", [], D, "CAST('inf' AS DOUBLE)")
simple("is_nan", [D], BOOLEAN, "isnan({0})")
simple("is_infinite", [D], BOOLEAN, "isinf({0})")
simple("is_finite", [D], BOOLEAN, "isfinite({0})")
simple("bitwise_and", [N, N], N, "({0} & {1})")
simple("bitwise_or", [N, N], N, "({0} | {1})")
simple("bitwise_xor", [N, N], N, "xor({0}, {1})")
simple("bitwise_not", [N], N, "(~{0})")
simple("width_bucket", [D, D, D, N], N, "t_width_bucket({0}, {1}, {2}, {3})")
simple("width_bucket", [D, array(D)], N, "t_bucket({0}, {1})")


@function("format_number")
def _format_number(code: Code) -> Code:
    if not code.type.is_integer:
        raise wrong_arguments("format_number", [code])
    return Code(f"t_format_number(CAST({code.sql} AS BIGINT))", VARCHAR)


@function("random", "rand")
def _random(limit: Code | None = None) -> Code:
    if limit is None:
        return Code("random()", DOUBLE)
    if not limit.type.is_integer or not isinstance(limit.value, int) or limit.value <= 0:
        raise wrong_arguments("random", [limit])
    return Code(f"CAST(floor(random() * {limit.value}) AS {limit.type.duck})", limit.type)


@function("mod")
def _mod(a: Code, b: Code) -> Code:
    return arithmetic("%", a, b)


@function("abs")
def _abs(code: Code) -> Code:
    if code.type == UNKNOWN:
        return _no_number()
    if not code.type.is_numeric:
        raise wrong_arguments("abs", [code])
    return Code(f"CAST(abs({code.sql}) AS {code.type.duck})", code.type)


@function("sign")
def _sign(code: Code) -> Code:
    kind = code.type
    if kind == UNKNOWN:
        return _no_number()
    if kind.is_integer:
        return Code(f"CAST(sign({code.sql}) AS {kind.duck})", kind)
    if kind.name == "decimal":
        return Code(f"CAST(sign({code.sql}) AS DECIMAL(1,0))", decimal(1))
    if kind.name in ("double", "real"):
        made = f"CAST(sign({code.sql}) AS {kind.duck})"
        return Code(f"CASE WHEN isnan({code.sql}) THEN {code.sql} ELSE {made} END", kind)
    raise wrong_arguments("sign", [code])


@function("ceil", "ceiling")
def _ceil(code: Code) -> Code:
    return _whole("ceil", code)


@function("floor")
def _floor(code: Code) -> Code:
    return _whole("floor", code)


def _whole(name: str, code: Code) -> Code:
    kind = code.type
    if kind == UNKNOWN:
        return _no_number()
    if kind.is_integer:
        return code
    if kind.name in ("double", "real"):
        return Code(f"{name}({code.sql})", kind)
    if kind.name == "decimal":
        to = _integral(kind)
        return Code(f"CAST({name}({code.sql}) AS {to.duck})", to)
    raise wrong_arguments(name, [code])


def _no_number() -> Code:
    """Return NULL of the type that Trino finds for a function of an untyped NULL."""
    return Code("CAST(NULL AS TINYINT)", TINYINT)


def _integral(kind: Type) -> Type:
    size = kind.size or 0
    return decimal(max(1, size - kind.scale + min(kind.scale, 1)))


@function("truncate")
def _truncate(code: Code, digits: Code | None = None) -> Code:
    kind = code.type
    if digits is not None:
        if kind.is_integer and isinstance(digits.value, int):
            code = coerced(code, as_decimal(kind))
            kind = code.type
        if kind.name != "decimal" or not isinstance(digits.value, int):
            raise wrong_arguments("truncate", [code, digits])
        if digits.value >= kind.scale:
            return code
        unit = f"{10 ** min(38, kind.scale - digits.value)}::HUGEINT"
        return Code(scaled(f"({unscaled(code)} // {unit} * {unit})", kind), kind)
    if kind.name in ("double", "real"):
        return Code(f"trunc({code.sql})", kind)
    if kind.name == "decimal":
        to = decimal(max(1, (kind.size or 0) - kind.scale))
        return Code(f"CAST(trunc({code.sql}) AS {to.duck})", to)
    raise wrong_arguments("truncate", [code])


@function("round")
def _round(  # noqa: PLR0911
    code: Code, digits: Code | None = None
) -> Code:
    kind = code.type
    if kind == UNKNOWN and digits is None:
        return _no_number()
    if kind.is_integer and digits is None:
        return code
    if digits is None:
        if kind.name in ("double", "real"):
            return Code(f"round({code.sql})", kind)
        if kind.name == "decimal":
            to = _integral(kind)
            return Code(f"CAST(round({code.sql}) AS {to.duck})", to)
        raise wrong_arguments("round", [code])
    if not digits.type.is_integer:
        raise wrong_arguments("round", [code, digits])
    if kind.is_integer and isinstance(digits.value, int):
        if digits.value >= 0:
            return code
        unit = f"{10 ** min(20, -digits.value)}::HUGEINT"
        half = f"(abs({code.sql}::HUGEINT) + {unit} // 2) // {unit} * {unit}"
        return Code(f"CAST(sign({code.sql}) * {half} AS {kind.duck})", kind)
    if kind == DOUBLE:
        made = f"t_round_to({code.sql}, CAST({digits.sql} AS BIGINT))"
        null = f"{code.sql} IS NULL OR {digits.sql} IS NULL"
        return Code(_NAN.format(call=made, null=null), kind)
    if kind.name == "decimal" and isinstance(digits.value, int) and digits.value >= 0:
        to = decimal(min(MAX_PRECISION, (kind.size or 0) + 1), kind.scale)
        return Code(f"CAST(round({code.sql}, {digits.value}) AS {to.duck})", to)
    if kind.name == "decimal" and isinstance(digits.value, int):
        to = decimal(min(MAX_PRECISION, (kind.size or 0) + 1), kind.scale)
        unit = f"{10 ** min(38, kind.scale - digits.value)}::HUGEINT"
        whole = unscaled(code)
        half = f"sign({code.sql}) * ((abs({whole}) + {unit} // 2) // {unit} * {unit})"
        return Code(scaled(f"({half})", to), to)
    raise wrong_arguments("round", [code, digits])


@function("greatest")
def _greatest(first: Code, *others: Code) -> Code:
    return _extreme("greatest", first, *others)


@function("least")
def _least(first: Code, *others: Code) -> Code:
    return _extreme("least", first, *others)


def _extreme(name: str, *codes: Code) -> Code:
    from sqlapi.sql.types import common

    kind: Type | None = codes[0].type
    for code in codes[1:]:
        kind = common(kind, code.type) if kind else None
    if kind is not None and kind.name in ("double", "real"):
        return _extreme_double(name, [coerced(code, kind).sql for code in codes], kind)
    if kind is None or kind.args or kind.name in ("json", "unknown"):
        raise SqlError("NOT_SUPPORTED", f"Function {name} of these types is not supported")
    given = [coerced(code, kind).sql for code in codes]
    null = " OR ".join(f"{sql} IS NULL" for sql in given)
    # the result is NULL if any value is; DuckDB ignores NULL
    return Code(f"CASE WHEN {null} THEN NULL ELSE {name}({', '.join(given)}) END", kind)


def _extreme_double(name: str, given: list[str], kind: Type) -> Code:
    """Return NaN only if all values are NaN; in DuckDB, NaN is the largest number."""
    null = " OR ".join(f"{sql} IS NULL" for sql in given)
    numbers = ", ".join(f"CASE WHEN NOT isnan({sql}) THEN {sql} END" for sql in given)
    found = f"coalesce({name}({numbers}), CAST('nan' AS {kind.duck}))"
    return Code(f"CASE WHEN {null} THEN NULL ELSE {found} END", kind)


@function("from_base")
def _from_base(value: Code, radix: Code) -> Code:
    if (
        not isinstance(radix.value, int)
        or not 2 <= radix.value <= 36
        or value.type.name != "varchar"
    ):
        raise wrong_arguments("from_base", [value, radix])
    return Code(f"t_from_base({value.sql}, CAST({radix.value} AS BIGINT))", BIGINT)


@function("to_base")
def _to_base(value: Code, radix: Code) -> Code:
    if not isinstance(radix.value, int) or not 2 <= radix.value <= 36:
        raise wrong_arguments("to_base", [value, radix])
    sql = coerced(value, BIGINT).sql
    made = f"lower(to_base(abs({sql}), {radix.value}))"
    return Code(f"(CASE WHEN {sql} < 0 THEN '-' ELSE '' END || {made})", VARCHAR)
