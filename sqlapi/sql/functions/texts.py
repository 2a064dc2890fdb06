"""Strings, regular expressions, binary values, JSON and URLs."""

from __future__ import annotations

import re

from sqlapi.sql.binding import applied
from sqlapi.sql.code import Code, coerced, text
from sqlapi.sql.functions.registry import constant, function, simple, wrong_arguments
from sqlapi.sql.operators import concatenated
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import (
    BIGINT,
    BOOLEAN,
    INTEGER,
    JSON,
    UNKNOWN,
    VARBINARY,
    VARCHAR,
    array,
)

V, B, N = VARCHAR, VARBINARY, BIGINT

simple("length", [V], N, "length({0})")
simple("length", [B], N, "octet_length({0})")
simple("upper", [V], V, "t_upper({0})")
simple("lower", [V], V, "lower({0})")
simple("trim", [V], V, "t_trim({0})")
simple("ltrim", [V], V, "t_ltrim({0})")
simple("rtrim", [V], V, "t_rtrim({0})")
simple("trim", [V, V], V, "trim({0}, {1})")
simple("ltrim", [V, V], V, "ltrim({0}, {1})")
simple("rtrim", [V, V], V, "rtrim({0}, {1})")
simple("substr substring", [V, N], V, "t_substr({0}, {1})")
simple("substr substring", [V, N, N], V, "t_substr3({0}, {1}, {2})")
simple("strpos", [V, V], N, "CAST(strpos({0}, {1}) AS BIGINT)")
simple("starts_with", [V, V], BOOLEAN, "starts_with({0}, {1})")
simple("lpad", [V, N, V], V, "t_lpad({0}, {1}, {2})")
simple("rpad", [V, N, V], V, "t_rpad({0}, {1}, {2})")
simple("split", [V, V], array(V), "t_split({0}, {1})")
simple("split_part", [V, V, N], V, "t_split_part({0}, {1}, {2})")
simple("chr", [N], V, "chr(CAST({0} AS INTEGER))")
simple("codepoint", [V], INTEGER, "t_codepoint({0})")
simple("levenshtein_distance", [V, V], N, "t_levenshtein({0}, {1})")
simple("hamming_distance", [V, V], N, "t_hamming({0}, {1})")
simple("normalize", [V], V, "t_normalize({0}, 'NFC')")
simple("to_utf8", [V], B, "encode({0})")
simple("from_utf8", [B], V, "t_from_utf8({0})")
simple("to_hex", [B], V, "hex({0})")
simple("from_hex", [V], B, "t_from_hex({0})")
simple("to_base64", [B], V, "to_base64({0})")
simple("from_base64", [V], B, "from_base64({0})")
simple("sha256", [B], B, "unhex(sha256({0}))")
simple("md5", [B], B, "unhex(md5({0}))")
simple("translate", [V, V, V], V, "translate({0}, {1}, {2})")
simple("url_extract_host", [V], V, "t_url({0}, 'host')")
simple("url_extract_path", [V], V, "t_url({0}, 'path')")
simple("url_extract_protocol", [V], V, "t_url({0}, 'protocol')")
simple("url_extract_query", [V], V, "t_url({0}, 'query')")
simple("json_array_length", [V], N, "t_json_array_length({0})")
simple("json_parse", [V], JSON, "t_json_parse({0})")
simple("json_format", [JSON], V, "{0}")
simple("json_array_length", [JSON], N, "t_json_array_length({0})")
simple("json_array_contains", [JSON, V], BOOLEAN, "t_json_has({0}, {1}, 'varchar')")
simple("json_array_contains", [JSON, N], BOOLEAN,
       "t_json_has({0}, CAST({1} AS VARCHAR), 'number')")  # fmt: skip
simple("json_array_contains", [V, V], BOOLEAN, "t_json_has({0}, {1}, 'varchar')")
simple("json_array_contains", [V, N], BOOLEAN, "t_json_has({0}, CAST({1} AS VARCHAR), 'number')")
simple("json_array_contains", [V, BOOLEAN], BOOLEAN,
       "t_json_has({0}, CAST({1} AS VARCHAR), 'boolean')")  # fmt: skip
simple("json_array_get", [V, N], JSON, "t_json_array_get({0}, {1})")
simple("is_json_scalar", [V], BOOLEAN, "t_json_scalar({0})")
simple("sha1", [B], B, "t_sha1({0})")
simple("sha512", [B], B, "t_sha512({0})")
simple("soundex", [V], V, "t_soundex({0})")
simple("luhn_check", [V], BOOLEAN, "t_luhn({0})")
simple("crc32", [B], N, "t_crc32({0})")
simple("url_extract_fragment", [V], V, "t_url({0}, 'fragment')")
simple("url_extract_port", [V], N, "CAST(t_url({0}, 'port') AS BIGINT)")
simple("url_extract_parameter", [V, V], V, "t_url_parameter({0}, {1})")
simple("url_encode", [V], V, "t_url_encode({0})")
simple("url_decode", [V], V, "t_url_decode({0})")
simple("strpos", [V, V, N], N, "t_strpos({0}, {1}, {2})")
simple("split", [V, V, N], array(V), "t_split_limit({0}, {1}, {2})")
simple("uuid", [], V, "CAST(uuid() AS VARCHAR)")


@function("replace")
def _replace(*codes: Code) -> Code:
    if len(codes) not in (2, 3) or any(c.type.name != "varchar" for c in codes):
        raise wrong_arguments("replace", codes)
    value, search = codes[0], codes[1]
    other = codes[2].sql if len(codes) == 3 else "''"
    if search.value == "" and len(codes) == 2:
        return value
    if search.value == "":
        # the text stands before each character, and at the end
        each = f"list_transform(string_split({value.sql}, ''), lambda t_v: {other} || t_v)"
        joined = f"t_join({each}, '') || {other}"
        return Code(f"CASE WHEN {value.sql} = '' THEN {other} ELSE {joined} END", VARCHAR)
    return Code(f"t_replace({value.sql}, {search.sql}, {other})", VARCHAR)


@function("concat")
def _concat(first: Code, second: Code, *others: Code) -> Code:
    arrays = [code.type.name == "array" for code in (first, second, *others)]
    if others and any(arrays) and not all(arrays):
        raise wrong_arguments("concat", [first, second, *others])
    found = concatenated(first, second)
    for code in others:
        found = applied(concatenated, found, code)
    return found


@function("concat_ws")
def _concat_ws(separator: Code, *values: Code) -> Code:
    if len(values) == 1 and values[0].type.name == "array":
        given = coerced(values[0], array(VARCHAR)).sql
    elif values and all(v.type.name in ("varchar", "unknown") for v in values):
        given = f"[{', '.join(coerced(v, VARCHAR).sql for v in values)}]"
    else:
        raise wrong_arguments("concat_ws", [separator, *values])
    sep = coerced(separator, VARCHAR).sql
    kept = f'list_filter({given}, lambda "t_x": "t_x" IS NOT NULL)'
    joined = f"coalesce(t_join({kept}, {sep}), '')"
    return Code(f"CASE WHEN {sep} IS NOT NULL AND {given} IS NOT NULL THEN {joined} END", VARCHAR)


@function("json_extract_scalar")
def _json_extract_scalar(value: Code, path: Code) -> Code:
    return _json("t_json_scalar_at", value, path)


@function("json_size")
def _json_size(value: Code, path: Code) -> Code:
    return Code(_json("t_json_size", value, path).sql, BIGINT)


@function("json_extract")
def _json_extract(value: Code, path: Code) -> Code:
    found = _json("t_json_at", value, path)
    return Code(found.sql, JSON)


_PATH = re.compile(r"\$((\.[A-Za-z_][A-Za-z0-9_]*)|(\[[0-9]{1,9}\])|(\[\"[^\"\\]*\"\]))*")


def _json(name: str, value: Code, path: Code) -> Code:
    steps = constant(path, "json_extract")
    if not _PATH.fullmatch(steps):
        raise SqlError("NOT_SUPPORTED", f"JSON path {steps} is not supported")
    if value.type == UNKNOWN and name == "t_json_at":
        value = coerced(value, VARCHAR)
    if value.type != JSON and value.type.name != "varchar":
        raise wrong_arguments("json_extract", [value, path])
    return Code(f"{name}({value.sql}, {text(steps)})", VARCHAR)
