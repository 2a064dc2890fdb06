"""What DuckDB's own parser says that a text is: names of functions and tables, and kinds of nodes.

It looks at the whole tree, beside `sqlapi.sql.one_select`, which every query passes.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any

import duckdb

from sqlapi.sql.one_select import KNOWN_FUNCTIONS

__all__ = ["EscapeError", "check"]


class EscapeError(Exception):
    """More than one SELECT of known functions over known tables."""


def check(connection: duckdb.DuckDBPyConnection, sql: str, tables: Collection[str]) -> None:
    """Raises EscapeError for anything but one SELECT of known functions over `tables`."""
    statements = connection.extract_statements(sql)
    kinds = [statement.type for statement in statements]
    if kinds != [duckdb.StatementType.SELECT]:
        raise EscapeError(f"statements {kinds}")
    ((told,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchall()
    for node in _nodes(json.loads(told)):
        if node.get("function_name", "~").lower() not in KNOWN_FUNCTIONS:
            raise EscapeError(f"function {node['function_name']}")
        kind = node.get("type")
        if kind == "BASE_TABLE" and node["table_name"] not in tables:
            raise EscapeError(f"table {node['table_name']}")
        if kind in (
            "TABLE_FUNCTION",
            "SHOW_REF",
            "COLUMN_DATA",
            "VALUE_PARAMETER",
            "POSITIONAL_REFERENCE",
        ) or (isinstance(kind, str) and kind.endswith("_QUERY_NODE")):
            raise EscapeError(kind)
        if node.get("columns") is True:
            raise EscapeError("COLUMNS(…)")
        if node.get("schema") or node.get("catalog") or node.get("schema_name"):
            raise EscapeError(f"a name of another schema: {node}")


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            left.extend(node.values())
        elif isinstance(node, list):
            left.extend(node)
