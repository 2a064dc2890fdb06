"""Conditions on the rows that a query needs, which compare numbers or strings.

DuckDB plans the query over empty tables; its plan has the filter above the scan as SQL. Rows that
this filter drops do not affect the result, so a source need not read them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb
import pyarrow as pa

from sqlapi.source import Comparison
from sqlapi.sql.plan_conditions import texts_of, whole_number_comparisons
from sqlapi.sql.translate import Translation
from sqlapi.sql.types import Type

__all__ = ["comparisons", "texts"]

_WHOLE = ("tinyint", "smallint", "integer", "bigint")


def comparisons(
    connection: duckdb.DuckDBPyConnection, translation: Translation, rows: Mapping[str, pa.Table]
) -> dict[str, list[Comparison]]:
    """Return comparisons that rows of the query's only table must meet, by its key.

    They are empty for several tables. `rows` has the table without rows, with the columns and types
    of the query's run.
    """
    only = _only_table(translation)
    if only is None:
        return {}
    name, columns = only
    whole = [column for column, kind in columns.items() if kind.name in _WHOLE]
    if not whole:
        return {}
    condition = _condition(connection, translation, name, rows[name])
    terms = whole_number_comparisons(condition) if condition else ()
    return {name: [term for term in terms if term[0] in whole]}


def texts(
    connection: duckdb.DuckDBPyConnection, translation: Translation, rows: Mapping[str, pa.Table]
) -> dict[str, dict[str, frozenset[str]]]:
    """Return the strings of which a column has one in all relevant rows of the only table."""
    only = _only_table(translation)
    if only is None:
        return {}
    name, columns = only
    condition = _condition(connection, translation, name, rows[name])
    found = texts_of(condition) if condition else {}
    return {
        name: {
            column: values
            for column, values in found.items()
            if column in columns and columns[column].name == "varchar"
        }
    }


def _only_table(translation: Translation) -> tuple[str, Mapping[str, Type]] | None:
    if len(translation.read) != 1 or " WHERE " not in translation.sql:
        return None
    (only,) = translation.read.items()
    return only


def _condition(
    connection: duckdb.DuckDBPyConnection, translation: Translation, name: str, rows: pa.Table
) -> dict[str, Any] | None:
    """Return the condition on rows of the only table; None if it is not known."""
    try:
        connection.register(name, rows)
        found = connection.execute(f"EXPLAIN (FORMAT json) {translation.sql}").fetchall()
        return _filter(connection, json.loads(found[0][1]))
    except duckdb.Error:
        # the query's run reports the error
        return None
    finally:
        connection.unregister(name)


def _filter(connection: duckdb.DuckDBPyConnection, plan: Any) -> dict[str, Any] | None:
    nodes = list(_nodes(plan))
    scans = [node for node in nodes if "ARROW_SCAN" in str(node.get("name"))]
    above = [node for node in nodes if node.get("children") == scans]
    if len(scans) != 1 or len(above) != 1 or str(above[0].get("name")).strip() != "FILTER":
        return None
    text = f"SELECT {above[0]['extra_info']['Expression']}"
    ((told,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [text]).fetchall()
    tree = json.loads(told)
    if tree.get("error"):
        return None
    (condition,) = tree["statements"][0]["node"]["select_list"]
    return dict(condition)


def _nodes(tree: Any) -> Iterator[dict[str, Any]]:
    children = tree if isinstance(tree, list) else tree.get("children", [])
    if isinstance(tree, dict):
        yield tree
    for child in children:
        yield from _nodes(child)
