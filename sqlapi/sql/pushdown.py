"""Which rows a query needs at most, as far as it compares whole numbers: known before it is run.

DuckDB tells it as the text of the filter above a scan, when it plans over no rows. What that filter
drops takes no part in the answer, so that a source may as well not read it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pyarrow as pa

from sqlapi.source import Comparison
from sqlapi.sql.plan_conditions import whole_number_comparisons
from sqlapi.sql.translate import Translation

__all__ = ["comparisons"]

_WHOLE = ("tinyint", "smallint", "integer", "bigint")


def comparisons(
    connection: duckdb.DuckDBPyConnection, translation: Translation, rows: Mapping[str, pa.Table]
) -> dict[str, list[Comparison]]:
    """Of the query's only table, by the name it is read under; nothing of several tables.

    `rows` are that table without rows, in the columns and types of the query's run.
    """
    if len(translation.read) != 1 or " WHERE " not in translation.sql:
        return {}
    ((name, columns),) = translation.read.items()
    whole = [column for column, kind in columns.items() if kind.name in _WHOLE]
    if not whole:
        return {}
    try:
        connection.register(name, rows[name])
        found = connection.execute(f"EXPLAIN (FORMAT json) {translation.sql}").fetchall()
        terms = list(_terms(connection, json.loads(found[0][1])))
    except duckdb.Error:
        # what is wrong with it is found out, and said, when it runs
        return {}
    finally:
        connection.unregister(name)
    return {name: [term for term in terms if term[0] in whole]}


def _terms(connection: duckdb.DuckDBPyConnection, plan: Any) -> Iterator[Comparison]:
    nodes = list(_nodes(plan))
    scans = [node for node in nodes if "ARROW_SCAN" in str(node.get("name"))]
    above = [node for node in nodes if node.get("children") == scans]
    if len(scans) != 1 or len(above) != 1 or str(above[0].get("name")).strip() != "FILTER":
        return
    text = f"SELECT {above[0]['extra_info']['Expression']}"
    ((told,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchall()
    tree = json.loads(told)
    if tree.get("error"):
        return
    (condition,) = tree["statements"][0]["node"]["select_list"]
    yield from whole_number_comparisons(condition)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    children = tree if isinstance(tree, list) else tree.get("children", [])
    if isinstance(tree, dict):
        yield tree
    for child in children:
        yield from _nodes(child)
