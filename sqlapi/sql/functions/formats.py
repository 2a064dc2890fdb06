"""The function `format`, with the forms of Java's that are known to agree."""

from __future__ import annotations

import re

from sqlapi.sql.code import Code, text
from sqlapi.sql.functions.registry import constant, function, wrong_arguments
from sqlapi.sql.macros import LONGEST_PADDED
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import BOOLEAN, DOUBLE, UNKNOWN, VARCHAR, decimal

_SPEC = r"%(?:%|-?\+?,?0?\d*(?:\.\d+)?[sSdfxXob])"


@function("format")
def _format(pattern: Code, *values: Code) -> Code:
    source = constant(pattern, "format")
    if not values:
        raise wrong_arguments("format", [pattern])
    found = re.findall(_SPEC, source)
    if source.count("%") != sum(spec.count("%") for spec in found):
        raise SqlError("NOT_SUPPORTED", f"Format {source} is not supported")
    pieces, rest = [], list(values)
    for literal in re.split(f"({_SPEC})", source):
        if not re.fullmatch(_SPEC, literal):
            pieces.append(text(literal))
        elif literal == "%%":
            pieces.append("'%'")
        elif not rest:
            raise SqlError("INVALID_FUNCTION_ARGUMENT", f"Format specifier '{literal}'")
        else:
            pieces.append(_formatted(literal, rest.pop(0)))
    return Code(f"({' || '.join(pieces)})", VARCHAR)


def _rarely(spec: str, code: Code) -> str | None:
    """Return the text of a form that has no width, or of bits; None for another form."""
    if code.type == UNKNOWN and re.fullmatch(r"%[sdfx]", spec):
        return "'null'"
    if spec == "%S" and code.type.name == "varchar":
        return f"coalesce(t_upper({code.sql}), 'NULL')"
    if spec == "%b" and code.type == BOOLEAN:
        return f"CASE WHEN {code.sql} THEN 'true' ELSE 'false' END"
    if spec == "%+d" and code.type.is_integer:
        sign = f"CASE WHEN {code.sql} >= 0 THEN '+' ELSE '' END"
        return f"coalesce({sign} || CAST({code.sql} AS VARCHAR), 'null')"
    if bits := re.fullmatch(r"%(0?)(\d*)([xXo])", spec):
        return _bits(code, bits[1], int(bits[2] or 0), bits[3])
    return None


def _bits(code: Code, zero: str, width: int, letter: str) -> str:
    """Return a whole number's bits as text, with zeros or spaces in front."""
    if not code.type.is_integer or width > LONGEST_PADDED or (zero and not width):
        raise SqlError("NOT_SUPPORTED", f"Format %{letter} of {code.type} is not supported")
    # Trino hands each whole number to Java as one of 64 bits
    shown = f"t_format_bits(CAST({code.sql} AS BIGINT), 64, '{letter}')"
    if width:
        shown = f"t_lpad({shown}, greatest({width}, length({shown})), '{zero or ' '}')"
    return f"coalesce({shown}, 'null')"


def _formatted(  # noqa: PLR0912
    spec: str, code: Code
) -> str:
    from sqlapi.sql.casts import cast

    rare = _rarely(spec, code)
    if rare is not None:
        return rare
    parts = re.fullmatch(r"%(-?)(,?)(0?)(\d*)(?:\.(\d+))?([sdf])", spec)
    kind = code.type
    if parts is None:
        raise SqlError("NOT_SUPPORTED", f"Format {spec} is not supported")
    left, grouped, zeros, width, digits, letter = parts.groups(default="")
    sql = ""
    if len(width) > 6 or int(width or 0) > LONGEST_PADDED:
        raise SqlError(
            "NOT_SUPPORTED", f"Format {spec[:50]} to more than {LONGEST_PADDED:,} characters"
        )
    if letter == "s" and not (grouped or zeros or digits):
        if kind.name in ("varchar", "boolean", "date") or kind.is_integer:
            sql = f"coalesce({cast(code, VARCHAR).sql}, 'null')"
        elif kind == DOUBLE:
            sql = f"coalesce(t_double_text({code.sql}), 'null')"
        elif kind.name == "decimal" and kind.scale <= 6:
            # with a larger scale, small numbers would get an exponent
            sql = f"coalesce({cast(code, VARCHAR).sql}, 'null')"
    elif letter == "d" and kind.is_integer and not digits and not (left and zeros):
        number = f"CAST({code.sql} AS BIGINT)"
        form = f"'{{:,}}', {number}" if grouped else f"'{{}}', {number}"
        if zeros and width and not grouped:
            return f"coalesce(printf('%0{width}d', {number}), 'null')"
        sql = "" if zeros else f"coalesce(format({form}), 'null')"
    elif letter == "f" and not zeros and (kind == DOUBLE or (kind.name == "decimal" and grouped)):
        shown = cast(code, VARCHAR).sql if kind != DOUBLE else f"t_double_text({code.sql})"
        flag = "true" if grouped else "false"
        sql = f"coalesce(t_format_fixed({shown}, {int(digits[:3] or 6)}, {flag}), 'null')"
    elif letter == "f" and kind.name == "decimal" and not (grouped or zeros):
        to = decimal(38, int(digits[:3] or 6))
        sql = cast(Code(f"CAST({code.sql} AS {to.duck})", to), VARCHAR).sql
        # Java keeps the sign of a number that is rounded to zero
        sign = f"CASE WHEN {code.sql} < 0 AND NOT starts_with({sql}, '-') THEN '-' ELSE '' END"
        sql = f"coalesce({sign} || {sql}, 'null')"
    if not sql:
        raise SqlError("NOT_SUPPORTED", f"Format {spec} of {kind} is not supported")
    if width and int(width):
        pad = f"repeat(' ', greatest(0, {width} - length({sql})))"
        sql = f"({sql} || {pad})" if left else f"({pad} || {sql})"
    return sql
