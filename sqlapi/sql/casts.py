"""CAST and TRY_CAST, with the strings that Trino writes and accepts for values."""

from __future__ import annotations

import json

from sqlglot import exp

from sqlapi.sql.code import Code, failing, text
from sqlapi.sql.dialect import WRITTEN, shown
from sqlapi.sql.grammar import TYPE_NAMES
from sqlapi.sql.literals import whole
from sqlapi.sql.operators import scaled
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    JSON,
    REAL,
    SMALLINT,
    TINYINT,
    UNKNOWN,
    VARBINARY,
    Type,
    array,
    can_coerce,
    decimal,
    map_of,
    row,
    timestamp,
    timestamp_tz,
    varchar,
)

__all__ = ["cast", "json_text", "local", "rounded", "type_of"]

_NAMES = {
    "BOOLEAN": BOOLEAN, "TINYINT": TINYINT, "SMALLINT": SMALLINT, "INT": INTEGER,
    "BIGINT": BIGINT, "FLOAT": REAL, "DOUBLE": DOUBLE, "VARBINARY": VARBINARY, "DATE": DATE,
    "JSON": JSON,
}  # fmt: skip
_NUMBER = r"[\t-\r ]*[+-]?[0-9]+[\t-\r ]*"
_DECIMAL = r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?"
_DOUBLE = r"\s*([+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[dDfF]?|NaN|[+-]?Infinity)\s*"
_DATE = r"\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}\s*"
_TIMESTAMP = (
    r"\s*[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"( [0-9]{1,2}:[0-9]{1,2}(:[0-9]{1,2}(\.[0-9]{1,12})?)?)?\s*"
)
_SHORT = 18


def type_of(tree: exp.Expr) -> Type:  # noqa: PLR0911
    """Return the type that a tree names. Raises SqlError for one that is not supported."""
    if not isinstance(tree, exp.DataType):
        raise SqlError("TYPE_NOT_FOUND", f"Unknown type: {shown(tree)}")
    written = tree.meta.get(WRITTEN)
    if written is not None and written not in TYPE_NAMES:
        raise SqlError("TYPE_MISMATCH", f"Unknown type: {shown(tree)}")
    name = tree.this.name if hasattr(tree.this, "name") else str(tree.this)
    inside = tree.expressions
    sizes = [_size(p) for p in inside if isinstance(p, exp.DataTypeParam)]
    match name:
        case "DECIMAL":
            return decimal(*(sizes[:2] or [38, 0]))
        case "VARCHAR" | "TEXT":
            return varchar(sizes[0] if sizes else None)
        case "TIMESTAMP":
            return timestamp(sizes[0] if sizes else 3)
        case "TIMESTAMPTZ":
            return timestamp_tz("UTC", sizes[0] if sizes else 3)
        case "ARRAY" if len(inside) == 1:
            return array(type_of(inside[0]))
        case "MAP" if len(inside) == 2:
            return map_of(type_of(inside[0]), type_of(inside[1]))
        case "STRUCT" if inside:
            pairs = [
                (_field_name(f.this), type_of(f.args["kind"]))
                if isinstance(f, exp.ColumnDef)
                else (None, type_of(f))
                for f in inside
            ]
            return row(tuple(t for _, t in pairs), tuple(n for n, _ in pairs))
    if name in _NAMES:
        return _NAMES[name]
    raise SqlError("NOT_SUPPORTED", f"Type {shown(tree)} is not supported")


def _size(tree: exp.DataTypeParam) -> int:
    size = whole(tree.this.name)
    if size is None:
        raise SqlError("TYPE_NOT_FOUND", f"Unknown size of a type: {shown(tree)}")
    return size


def _field_name(tree: exp.Expr) -> str:
    if tree.args.get("quoted") and tree.name != tree.name.lower():
        raise SqlError("NOT_SUPPORTED", f"Field {tree.name} with capital letters is not supported")
    return tree.name.lower()


def local(code: Code) -> str:
    """Return a timestamp as local time in its zone."""
    if code.type.zone in (None, "UTC"):
        return code.sql
    return f"timezone({text(code.type.zone or '')}, timezone('UTC', {code.sql}))"


def cast(code: Code, kind: Type) -> Code:  # noqa: PLR0911
    """Translate `CAST(code AS kind)`; bad values fail as in Trino. Raises SqlError."""
    given = code.type
    if given == kind:
        return code
    if given == UNKNOWN:
        return Code(f"CAST({code.sql} AS {kind.duck})", kind)
    if given.name == "json":
        return _from_json(code, kind)
    if kind == JSON:
        return Code(json_text(code), JSON)
    if kind.name == "varchar":
        return _to_text(code, kind)
    if given.name == "varchar":
        return _from_text(code, kind)
    if given.is_numeric and kind.is_numeric:
        return _number(code, kind)
    if given == BOOLEAN and kind.is_numeric:
        return _number(Code(f"CAST({code.sql} AS TINYINT)", TINYINT), kind)
    if given.is_numeric and kind == BOOLEAN:
        return Code(f"({code.sql} <> 0)", kind)
    if given.is_time and kind.is_time:
        return _time(code, kind)
    if given.args and given.name == kind.name and len(given.args) == len(kind.args):
        if can_coerce(given, kind) or _same_but_names(given, kind):
            return Code(f"CAST({code.sql} AS {kind.duck})", kind)
        return _parts(code, kind)
    raise SqlError("TYPE_MISMATCH", f"Cannot cast {given} to {kind}")


def _from_json(code: Code, kind: Type) -> Code:
    """Cast JSON to a scalar, or to arrays, maps and rows of what it can be cast to."""
    sql = code.sql
    if kind == JSON:
        return code
    if kind.name == "array":
        inner = cast(Code('"t_i"', JSON), kind.args[0]).sql
        made = f'list_transform(t_json_items({sql}), lambda "t_i": {inner})'
        return Code(f"CAST({made} AS {kind.duck})", kind)
    if kind.name == "map":
        key = cast(Code('"t_i".k', varchar()), kind.args[0]).sql
        value = cast(Code('"t_i".v', JSON), kind.args[1]).sql
        pair = f"struct_pack(key := {key}, value := {value})"
        made = f'list_transform(t_json_entries({sql}), lambda "t_i": {pair})'
        return Code(f"CAST(map_from_entries({made}) AS {kind.duck})", kind)
    if kind.name == "row":
        names = f"CAST([{', '.join(text(name or '') for name in kind.fields)}] AS VARCHAR[])"
        inside = ", ".join(
            f'"f{i}" := {cast(Code(f"list_extract(t_m, {i + 1})", JSON), inner).sql}'
            for i, inner in enumerate(kind.args)
        )
        made = f"CASE WHEN t_m IS NOT NULL THEN CAST(struct_pack({inside}) AS {kind.duck}) END"
        whole = f"list_transform([t_json_fields({sql}, {names})], lambda t_m: {made})"
        return Code(f"list_extract({whole}, 1)", kind)
    if not (kind.is_integer or kind in (DOUBLE, BOOLEAN) or kind == varchar(None)):
        raise SqlError("NOT_SUPPORTED", f"Cast from json to {kind} is not supported")
    wanted = "number" if kind.is_integer else kind.name
    return Code(f"CAST(t_json_value({sql}, '{wanted}') AS {kind.duck})", kind)


def json_text(  # noqa: PLR0911
    code: Code,
) -> str:
    """Return a value's JSON, NULL for NULL. Raises SqlError for types that are not supported."""
    kind, sql = code.type, code.sql
    if kind.is_integer or kind == BOOLEAN or kind.name == "decimal":
        return cast(code, varchar()).sql
    if kind.name == "varchar":
        return f"t_json_quoted({sql})"
    if kind == UNKNOWN:
        return "CAST(NULL AS VARCHAR)"
    if kind == DOUBLE:
        shown = f"t_double_text({sql})"
        return f"CASE WHEN isfinite({sql}) THEN {shown} ELSE '\"' || {shown} || '\"' END"
    if kind == DATE:
        return f"('\"' || CAST({sql} AS VARCHAR) || '\"')"
    if kind.name == "timestamp":
        return f"('\"' || {cast(code, varchar()).sql} || '\"')"
    if kind.name == "map" and not kind.args[0].args:
        named = cast(Code('"t_k"', kind.args[0]), varchar()).sql
        inner = json_text(Code('"t_w"', kind.args[1]))
        keys = f'list_transform(map_keys({sql}), lambda "t_k": {named})'
        values = f'list_transform(map_values({sql}), lambda "t_w": {inner})'
        return f"t_json_of_pairs({keys}, {values})"
    if kind.name == "array":
        inner = f"coalesce({json_text(Code('t_j', kind.args[0]))}, 'null')"
        joined = f"array_to_string(list_transform({sql}, lambda t_j: {inner}), ',')"
        return f"('[' || coalesce({joined}, '') || ']' || CASE WHEN {sql} IS NOT NULL THEN '' END)"
    if kind.name == "row":
        fields = (
            (
                f"{json.dumps(name or '', ensure_ascii=False)}:",
                Code(f"struct_extract({sql}, 'f{i}')", t),
            )
            for i, (name, t) in enumerate(zip(kind.fields, kind.args, strict=True))
        )
        inside = " || ',' || ".join(
            f"{text(head)} || coalesce({json_text(field)}, 'null')" for head, field in fields
        )
        return f"('{{' || {inside} || '}}' || CASE WHEN {sql} IS NOT NULL THEN '' END)"
    raise SqlError("NOT_SUPPORTED", f"Cast from {kind} to json is not supported")


def _parts(code: Code, kind: Type) -> Code:
    """Cast each part of an array or row."""
    given = code.type
    if kind.name == "array":
        inner = cast(Code('"t_c"', given.args[0]), kind.args[0]).sql
        made = f'list_transform({code.sql}, lambda "t_c": {inner})'
        return Code(f"CAST({made} AS {kind.duck})", kind)
    if kind.name == "row":
        pairs = zip(given.args, kind.args, strict=True)
        fields = (
            cast(Code(f"struct_extract({code.sql}, 'f{i}')", a), b).sql
            for i, (a, b) in enumerate(pairs)
        )
        inside = ", ".join(f'"f{i}" := {field}' for i, field in enumerate(fields))
        made = f"CAST(struct_pack({inside}) AS {kind.duck})"
        return Code(f"CASE WHEN {code.sql} IS NULL THEN NULL ELSE {made} END", kind)
    raise SqlError("NOT_SUPPORTED", f"Cast from {given} to {kind} is not supported")


def _same_but_names(given: Type, kind: Type) -> bool:
    pairs = list(zip(given.args, kind.args, strict=True))
    return all(x.duck == y.duck or can_coerce(x, y) for x, y in pairs)


def _to_text(code: Code, kind: Type) -> Code:
    given = code.type
    match given.name:
        case "varchar":
            value = code.sql
        case "double" | "real":
            value = f"t_{given.name}_cast(CAST({code.sql} AS DOUBLE))"
        case "timestamp" | "timestamp with time zone":
            value = _timestamp_text(local(code), given.size or 0)
            if given.zone:
                value = f"({value} || {text(' ' + given.zone)})"
        case "interval day to second":
            value = f"t_interval({code.sql})"
        case "interval year to month":
            value = f"t_months_text({code.sql})"
        case "decimal" if given.size == given.scale:
            # DuckDB omits the zero before the point
            value = f"regexp_replace(CAST({code.sql} AS VARCHAR), '^(-?)\\.', '\\10.')"
        case "boolean" | "date" | "decimal" | "tinyint" | "smallint" | "integer" | "bigint":
            value = f"CAST({code.sql} AS VARCHAR)"
        case _:
            raise SqlError("TYPE_MISMATCH", f"Cannot cast {given} to {kind}")
    if kind.size is None or (given.name == "varchar" and (given.size or 1 << 60) <= kind.size):
        return Code(value, kind, code.value if given.name == "varchar" else None)
    if given.name == "varchar":
        return Code(f"substring({value}, 1, {kind.size})", kind)
    message = f"'Value ' || {value} || ' cannot be represented as {kind}'"
    long = failing("INVALID_CAST_ARGUMENT", message, "VARCHAR")
    return Code(f"CASE WHEN length({value}) > {kind.size} THEN {long} ELSE {value} END", kind)


def _timestamp_text(value: str, precision: int) -> str:
    shown = f"strftime({value}, '%Y-%m-%d %H:%M:%S.%f')"
    return f"substring({shown}, 1, {20 + precision if precision else 19})"


def _from_text(code: Code, kind: Type) -> Code:
    pattern, value = _reading(code.sql, kind)
    message = f"'Cannot cast ''' || {code.sql} || ''' to {str(kind).upper()}'"
    wrong = failing("INVALID_CAST_ARGUMENT", message, kind.duck)
    checked = f"regexp_full_match({code.sql}, {text(pattern)})"
    null = f"WHEN {code.sql} IS NULL THEN NULL"
    return Code(f"CASE {null} WHEN NOT {checked} THEN {wrong} ELSE {value} END", kind)


def _reading(  # noqa: PLR0911
    sql: str, kind: Type
) -> tuple[str, str]:
    """Return the pattern of strings that Trino accepts, and DuckDB's SQL for the value."""
    plain = f"CAST({sql} AS {kind.duck})"
    match kind.name:
        case "tinyint" | "smallint" | "integer" | "bigint":
            return _NUMBER, f"CAST(t_trim({sql}) AS {kind.duck})"
        case "decimal":
            return _DECIMAL, plain
        case "double" | "real":
            return _DOUBLE, f"CAST(rtrim(t_trim({sql}), 'dDfF') AS {kind.duck})"
        case "boolean":
            true = f"lower({sql}) IN ('t', 'true', '1')"
            return "(?i)(t|f|true|false|1|0)", f"({true})"
        case "varbinary":
            return r"(?s).*", f"encode({sql})"
        case "date":
            return _DATE, f"CAST(trim({sql}) AS DATE)"
        case "timestamp":
            micros = f"regexp_replace(trim({sql}), '(\\.[0-9]{{6}})[0-9]+$', '\\1')"
            up = f"CASE WHEN regexp_matches({sql}, '\\.[0-9]{{6}}[5-9]') THEN 1 ELSE 0 END"
            moment = f"CAST({micros} AS TIMESTAMP)"
            if (kind.size or 0) >= 6:
                moment = f"({moment} + to_microseconds({up}))"
            return _TIMESTAMP, rounded(moment, kind)
    raise SqlError("NOT_SUPPORTED", f"Cast from varchar to {kind} is not supported")


def rounded(value: str, kind: Type) -> str:
    """Round a timestamp half up to its type's digits; leave dates as they are."""
    precision = kind.size or 0
    if kind == DATE or precision >= 6:
        return value
    return f"t_rounded({value}, {10 ** (6 - precision)})"


def _number(code: Code, kind: Type) -> Code:
    given, sql = code.type, code.sql
    if given.name in ("double", "real"):
        if kind.is_integer:
            return Code(f"CAST(round({sql}) AS {kind.duck})", kind)
        if kind.name == "decimal":
            if (kind.size or 0) > _SHORT:
                raise SqlError("NOT_SUPPORTED", f"Cast from {given} to {kind} is not supported")
            digits = f"CAST(round(CAST({sql} AS DOUBLE) * {10**kind.scale}) AS BIGINT)"
            return Code(scaled(digits, kind), kind)
    return Code(f"CAST({sql} AS {kind.duck})", kind)


def _time(code: Code, kind: Type) -> Code:
    given = code.type
    if kind == DATE:
        return Code(f"CAST({local(code)} AS DATE)", kind)
    if kind.zone:
        if given.zone:
            kind = timestamp_tz(given.zone, kind.size or 0)
        return Code(rounded(f"CAST({code.sql} AS TIMESTAMP)", kind), kind)
    value = f"CAST({local(code)} AS TIMESTAMP)"
    if (given.size or 0) > (kind.size or 0):
        value = rounded(value, kind)
    return Code(value, kind)
