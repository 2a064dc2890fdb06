"""What PostgreSQL may be sent on behalf of a client, checked with PostgreSQL's own parser."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pglast
from pglast import ast
from pglast.parser import ParseError, scan

__all__ = ["EscapeError", "check"]

STATEMENTS = (
    ast.SelectStmt, ast.InsertStmt, ast.UpdateStmt, ast.DeleteStmt, ast.MergeStmt, ast.CreateStmt,
    ast.CreateTableAsStmt, ast.ViewStmt, ast.AlterTableStmt, ast.IndexStmt, ast.DropStmt,
    ast.TruncateStmt, ast.CommentStmt, ast.LockStmt, ast.TransactionStmt, ast.VariableSetStmt,
)  # fmt: skip
"""Statements by which a client's data and definitions are changed: no COPY, DO, CREATE FUNCTION,
GRANT, SET ROLE …"""
PLAIN_FUNCTIONS = frozenset(
    {
        "upper", "lower", "ltrim", "rtrim", "btrim", "replace", "reverse", "ascii", "abs", "floor",
        "sign", "sqrt", "exp", "log10", "pi", "min", "max", "row_number", "rank", "dense_rank",
        "ntile", "lag", "lead", "first_value", "last_value", "percent_rank", "cume_dist",
        "translate", "sin", "cos", "tan", "atan", "degrees", "radians", "ceil", "repeat", "chr",
        "random", "ln", "count", "stddev_samp", "stddev_pop", "var_samp", "var_pop", "make_date",
        "concat", "concat_ws", "merge_action", "string_agg", "to_regclass", "currval",
    }
)  # fmt: skip
"""PostgreSQL's own functions that T-SQL's become: none reaches a file, a program or a setting."""
OWN_SCHEMAS = {"mssql", "pg_catalog", "pg_temp"}


class EscapeError(AssertionError):
    """What reaches PostgreSQL is more than the translation of a client's statement."""


def check(sql: str, names: Iterable[str]) -> bool:
    """Return whether PostgreSQL parses `sql`; raises `EscapeError` when it is not what it may be.

    `names` are the names that occur in the client's text. A statement that PostgreSQL refuses as a
    whole does nothing, so it is no escape.
    """
    try:
        statements = pglast.parse_sql(sql)
    except ParseError:
        return False
    known = {name.lower() for name in names}
    for token in scan(sql):
        if token.name in {"SQL_COMMENT", "C_COMMENT"}:
            raise EscapeError(f"a comment is sent: {sql}")
    for raw in statements:
        if not isinstance(raw.stmt, STATEMENTS):
            raise EscapeError(f"{type(raw.stmt).__name__} is sent: {sql}")
        for node in _nodes(raw.stmt):
            _check_node(node, known, sql)
    return True


def _check_node(node: ast.Node, known: set[str], sql: str) -> None:
    if isinstance(node, ast.FuncCall):
        _check_function([part.sval for part in node.funcname or ()], known, sql)
    elif isinstance(node, ast.RangeVar):
        _check_relation(node.schemaname, node.relname or "", known, sql)
    elif isinstance(node, ast.TypeName) and node.names:
        words = [part.sval for part in node.names]
        if len(words) > 2 or (len(words) == 2 and words[0] not in OWN_SCHEMAS):
            raise EscapeError(f"the type {words} is sent: {sql}")
    elif isinstance(node, ast.VariableSetStmt) and node.name not in {"lock_timeout"}:
        raise EscapeError(f"the setting {node.name} is changed: {sql}")


def _check_function(name: list[str], known: set[str], sql: str) -> None:
    if len(name) == 1 and name[0] in PLAIN_FUNCTIONS:
        return
    if len(name) == 2 and name[0] in OWN_SCHEMAS:
        return
    # A capture instance's own function, `"<database>.cdc"."<function>"`: both are names.
    if len(name) == 2 and name[0].endswith(".cdc") and name[1] in known:
        return
    raise EscapeError(f"the function {name} is called: {sql}")


def _check_relation(schema: str | None, name: str, known: set[str], sql: str) -> None:
    if schema is None or schema in OWN_SCHEMAS:
        return
    if name not in known or not any(schema.endswith(f".{part}") for part in known):
        raise EscapeError(f"the relation {schema!r}.{name!r} is none that was named: {sql}")


def _nodes(node: object) -> Iterator[ast.Node]:
    if isinstance(node, tuple):
        for part in node:
            yield from _nodes(part)
    elif isinstance(node, ast.Node):
        yield node
        for field in node:
            yield from _nodes(getattr(node, field))
