"""The parts of sqlglot's trees that are supported; others are never ignored silently."""

from __future__ import annotations

from sqlglot import exp

from sqlapi.sql.dialect import TypedLiteral, shown
from sqlapi.sql.json_calls import JsonCall
from sqlapi.sql.statement_errors import SqlError

__all__ = ["check_parts", "position"]

_ALWAYS = {"this", "expression", "expressions"}
_QUERY = {"with_", "order", "limit", "offset"}
_PARTS: dict[type, set[str]] = {
    exp.Column: {"table", "db", "catalog"},
    exp.Identifier: {"quoted"},
    exp.Literal: {"is_string"},
    exp.Interval: {"unit"},
    exp.Alias: {"alias"},
    exp.Case: {"ifs", "default"},
    exp.If: {"true", "false"},
    exp.Cast: {"to"},
    TypedLiteral: {"to"},
    exp.ParseJSON: {"is_literal"},
    exp.UnicodeString: {"escape"},
    exp.TryCast: {"to", "safe"},
    exp.AtTimeZone: {"zone"},
    exp.Between: {"low", "high"},
    exp.In: {"query"},
    exp.Like: {"negate"},
    exp.Is: {"negate"},
    exp.StrPosition: {"substr"},
    exp.Substring: {"start", "length"},
    exp.Trim: {"position"},
    exp.Window: {"over", "order", "alias", "spec", "partition_by"},
    exp.WindowSpec: {"kind", "start", "start_side", "end", "end_side", "exclude"},
    exp.GroupConcat: {"separator", "on_overflow"},
    exp.Div: {"typed", "safe"},
    exp.Ordered: {"desc", "nulls_first"},
    exp.Subquery: _QUERY | {"alias", "sample", "joins"},
    exp.Union: _QUERY | {"distinct", "by_name"},
    exp.Intersect: _QUERY | {"distinct", "by_name"},
    exp.Except: _QUERY | {"distinct", "by_name"},
    exp.Values: _QUERY | {"alias", "sample"},
    exp.Unnest: {"alias", "offset", "joins"},
    exp.Lateral: {"alias", "joins"},
    exp.Join: {"side", "kind", "on", "using", "method"},
    exp.From: set(),
    exp.CTE: {"alias"},
    exp.TableSample: {"method", "percent"},
    exp.Filter: set(),
    JsonCall: {"returning", "wrapper", "quotes", "on_empty", "on_error", "nulls"},
}


def check_parts(tree: exp.Expr) -> None:
    """Raise SqlError (NOT_SUPPORTED) if a tree has a part that the translation does not handle."""
    known = _ALWAYS | _PARTS.get(type(tree), set())
    for name, value in tree.args.items():
        if name not in known and value not in (None, False, []):
            raise SqlError("NOT_SUPPORTED", f"Unsupported: {shown(tree)}")


def position(tree: exp.Expr) -> tuple[int, int] | None:
    """Return line and column of a tree's name; None if sqlglot does not provide them."""
    for node in tree.find_all(exp.Identifier):
        meta = node.meta
        if "line" in meta:
            length = meta["end"] - meta["start"] + 1
            return int(meta["line"]), int(meta["col"]) - length + 1
    return None
