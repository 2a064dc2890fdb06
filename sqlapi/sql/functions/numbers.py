"""Numbers, conditions on them, and bits."""

from __future__ import annotations

from sqlapi.sql.code import Code, coerced, failing
from sqlapi.sql.errors import SqlError
from sqlapi.sql.functions.registry import function, simple, wrong_arguments
from sqlapi.sql.operators import arithmetic
from sqlapi.sql.types import BIGINT, BOOLEAN, DOUBLE, MAX_PRECISION, Type, decimal

D, N = DOUBLE, BIGINT

for _name in ("sqrt", "exp", "sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians"):
    simple(_name, [D], D, f"t_{_name}({{0}})")
simple("cbrt", [D], D, "t_cbrt({0})")
simple("ln", [D], D, "t_ln({0})")
simple("log2", [D], D, "t_log2({0})")
simple("log10", [D], D, "t_log10({0})")
simple("log", [D, D], D, "t_log({0}, {1})")
simple("power pow", [D, D], D, "t_power({0}, {1})")
simple("atan2", [D, D], D, "t_atan2({0}, {1})")
simple("pi", [], D, "pi()")
simple("e", [], D, "CAST(2.718281828459045 AS DOUBLE)")
simple("nan", [], D, "CAST('nan' AS DOUBLE)")
simple("infinity", [], D, "CAST('inf' AS DOUBLE)")
simple("is_nan", [D], BOOLEAN, "isnan({0})")
simple("is_infinite", [D], BOOLEAN, "isinf({0})")
simple("is_finite", [D], BOOLEAN, "isfinite({0})")
simple("random rand", [], D, "random()")
simple("bitwise_and", [N, N], N, "({0} & {1})")
simple("bitwise_or", [N, N], N, "({0} | {1})")
simple("bitwise_xor", [N, N], N, "xor({0}, {1})")
simple("bitwise_not", [N], N, "(~{0})")
simple("width_bucket", [D, D, D, N], N, "t_width_bucket({0}, {1}, {2}, {3})")


@function("mod")
def _mod(a: Code, b: Code) -> Code:
    return arithmetic("%", a, b)


@function("abs")
def _abs(code: Code) -> Code:
    if not code.type.is_numeric:
        raise wrong_arguments("abs", [code])
    return Code(f"CAST(abs({code.sql}) AS {code.type.duck})", code.type)


@function("sign")
def _sign(code: Code) -> Code:
    kind = code.type
    if kind.is_integer:
        return Code(f"CAST(sign({code.sql}) AS {kind.duck})", kind)
    if kind.name == "decimal":
        return Code(f"CAST(sign({code.sql}) AS DECIMAL(1,0))", decimal(1))
    raise wrong_arguments("sign", [code])


@function("ceil", "ceiling")
def _ceil(code: Code) -> Code:
    return _whole("ceil", code)


@function("floor")
def _floor(code: Code) -> Code:
    return _whole("floor", code)


def _whole(name: str, code: Code) -> Code:
    kind = code.type
    if kind.is_integer:
        return code
    if kind.name in ("double", "real"):
        return Code(f"{name}({code.sql})", kind)
    if kind.name == "decimal":
        to = _integral(kind)
        return Code(f"CAST({name}({code.sql}) AS {to.duck})", to)
    raise wrong_arguments(name, [code])


def _integral(kind: Type) -> Type:
    size = kind.size or 0
    return decimal(max(1, size - kind.scale + min(kind.scale, 1)))


@function("truncate")
def _truncate(code: Code) -> Code:
    kind = code.type
    if kind.name in ("double", "real"):
        return Code(f"trunc({code.sql})", kind)
    if kind.name == "decimal":
        to = decimal(max(1, (kind.size or 0) - kind.scale))
        return Code(f"CAST(trunc({code.sql}) AS {to.duck})", to)
    raise wrong_arguments("truncate", [code])


@function("round")
def _round(code: Code, digits: Code | None = None) -> Code:
    kind = code.type
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
    if kind == DOUBLE:
        return Code(f"t_round_to({code.sql}, CAST({digits.sql} AS BIGINT))", kind)
    if kind.name == "decimal" and isinstance(digits.value, int) and digits.value >= 0:
        to = decimal(min(MAX_PRECISION, (kind.size or 0) + 1), kind.scale)
        return Code(f"CAST(round({code.sql}, {digits.value}) AS {to.duck})", to)
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
    if kind is None or kind.args or kind.name in ("json", "unknown", "double", "real"):
        raise SqlError("NOT_SUPPORTED", f"Function {name} of these types is not supported")
    given = [coerced(code, kind).sql for code in codes]
    null = " OR ".join(f"{sql} IS NULL" for sql in given)
    # NULL as soon as one is; DuckDB leaves it out
    return Code(f"CASE WHEN {null} THEN NULL ELSE {name}({', '.join(given)}) END", kind)


@function("from_base")
def _from_base(value: Code, radix: Code) -> Code:
    if radix.value not in (2, 10, 16) or value.type.name != "varchar":
        raise wrong_arguments("from_base", [value, radix])
    return Code(f"t_from_base({value.sql}, CAST({radix.value} AS BIGINT))", BIGINT)


@function("to_base")
def _to_base(value: Code, radix: Code) -> Code:
    from sqlapi.sql.types import VARCHAR

    if not isinstance(radix.value, int) or not 2 <= radix.value <= 36:
        raise wrong_arguments("to_base", [value, radix])
    negative = failing("NOT_SUPPORTED", "'to_base of a negative number'", "VARCHAR")
    sql = coerced(value, BIGINT).sql
    made = f"lower(to_base({sql}, {radix.value}))"
    return Code(f"CASE WHEN {sql} < 0 THEN {negative} ELSE {made} END", VARCHAR)
