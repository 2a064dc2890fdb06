"""The syntax of SQL/JSON functions, for the parser of Athena's dialect."""

from __future__ import annotations

from typing import Any

from sqlglot import exp
from sqlglot.tokenizer_core import TokenType

from sqlapi.sql.statement_errors import SqlError

__all__ = ["PARSERS", "JsonCall"]


class JsonCall(exp.Expression):
    """A call of json_object, json_array, json_query, json_value or json_exists."""

    arg_types = {  # noqa: RUF012 - as sqlglot declares it
        "this": True, "expressions": False, "returning": False, "wrapper": False,
        "quotes": False, "on_empty": False, "on_error": False, "nulls": False,
    }  # fmt: skip


_BEHAVIOURS = ("EMPTY ARRAY", "EMPTY OBJECT", "NULL", "ERROR", "TRUE", "FALSE", "UNKNOWN")


def _words(parser: Any, *texts: str) -> bool:
    return bool(parser._match_text_seq(*texts))


def _item(parser: Any) -> exp.Expr:
    item: exp.Expr = parser._parse_disjunction()
    if item is None:
        raise SqlError("SYNTAX_ERROR", "mismatched input. Expecting: an expression")
    if _words(parser, "FORMAT", "JSON"):
        if _words(parser, "ENCODING"):
            raise SqlError("NOT_SUPPORTED", "FORMAT JSON ENCODING")
        return JsonCall(this="format", expressions=[item])
    return item


def _comma(parser: Any) -> bool:
    return bool(parser._match(TokenType.COMMA))


def _nulls(parser: Any) -> str | None:
    for word in ("NULL", "ABSENT"):
        if _words(parser, word, "ON", "NULL"):
            return word.lower()
    return None


def _is_closed(parser: Any) -> bool:
    return bool(parser._curr.token_type == TokenType.R_PAREN)


def _array(parser: Any) -> JsonCall:
    items: list[exp.Expr] = []
    while not _is_closed(parser) and (not items or _comma(parser)):
        items.append(_item(parser))
    return JsonCall(this="json_array", expressions=items, nulls=_nulls(parser))


def _object(parser: Any) -> JsonCall:
    items: list[exp.Expr] = []
    while not _is_closed(parser) and (not items or _comma(parser)):
        has_word = _words(parser, "KEY")
        key = parser._parse_bitwise()
        if not _words(parser, "VALUE") and (has_word or not parser._match(TokenType.COLON)):
            raise SqlError("SYNTAX_ERROR", "mismatched input. Expecting: VALUE")
        items += [key, _item(parser)]
    nulls = _nulls(parser)
    if _words(parser, "WITH", "UNIQUE"):
        # equal keys are refused in any case
        _words(parser, "KEYS")
    return JsonCall(this="json_object", expressions=items, nulls=nulls)


def _by_path(name: str, parser: Any) -> JsonCall:
    items = [_item(parser)]
    if not _comma(parser):
        raise SqlError("SYNTAX_ERROR", "mismatched input. Expecting: ','")
    items.append(parser._parse_bitwise())
    call = JsonCall(this=name, expressions=items)
    while not _is_closed(parser):
        _option(name, parser, call)
    return call


def _option(name: str, parser: Any, call: JsonCall) -> None:
    """Read one of the clauses that may follow a path."""
    if name == "json_value" and _words(parser, "RETURNING"):
        call.set("returning", parser._parse_types())
    elif name == "json_value" and _words(parser, "DEFAULT"):
        _on(parser, call, parser._parse_bitwise())
    elif name == "json_query" and _words(parser, "WITHOUT"):
        _words(parser, "ARRAY")
        _expect(parser, "WRAPPER")
    elif name == "json_query" and _words(parser, "WITH"):
        kind = "conditional" if _words(parser, "CONDITIONAL") else "unconditional"
        _words(parser, "UNCONDITIONAL")
        _words(parser, "ARRAY")
        _expect(parser, "WRAPPER")
        call.set("wrapper", kind)
    elif name == "json_query" and (_words(parser, "KEEP") or _words(parser, "OMIT")):
        call.set("quotes", str(parser._prev.text).lower())
        _expect(parser, "QUOTES")
        _words(parser, "ON", "SCALAR", "STRING")
    else:
        for word in _BEHAVIOURS:
            if _words(parser, *word.split()):
                _on(parser, call, word.lower())
                return
        raise SqlError("NOT_SUPPORTED", f"{parser._curr.text} in {name}")


def _on(parser: Any, call: JsonCall, behaviour: exp.Expr | str) -> None:
    _expect(parser, "ON")
    for state in ("EMPTY", "ERROR"):
        if _words(parser, state):
            call.set(f"on_{state.lower()}", behaviour)
            return
    raise SqlError("SYNTAX_ERROR", "mismatched input. Expecting: EMPTY, ERROR")


def _expect(parser: Any, word: str) -> None:
    if not _words(parser, word):
        raise SqlError("SYNTAX_ERROR", f"mismatched input. Expecting: {word}")


PARSERS: dict[str, Any] = {
    "JSON_ARRAY": _array,
    "JSON_OBJECT": _object,
    "JSON_QUERY": lambda parser: _by_path("json_query", parser),
    "JSON_VALUE": lambda parser: _by_path("json_value", parser),
    "JSON_EXISTS": lambda parser: _by_path("json_exists", parser),
}
