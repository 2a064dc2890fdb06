"""The final check of DuckDB's SQL: one SELECT of known functions over known tables.

Even if the translation has an error, nothing else runs. DuckDB's own parser parses the SQL, and the
statement that it returns is the one that runs.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import duckdb

from sqlapi.sql.budget import too_deep
from sqlapi.sql.macros import MACROS
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.udfs import UDFS

__all__ = ["KNOWN_FUNCTIONS", "UnknownStatementError", "changing_nothing", "one_select"]

_OF_DUCKDB = """
% & * + - / // | || ~ ~~ like_escape abs any_value arg_max arg_max_null arg_min
arg_min_null array_to_string
avg bit_and bit_count bit_or bit_xor bool_and bool_or cardinality ceil chr corr count
count_star covar_pop covar_samp cume_dist
date_part date_trunc dense_rank encode epoch_ms epoch_us exp first_value flatten floor fmod format
from_base64 generate_series greatest hex histogram isfinite isinf isnan lag last_day
last_value lead least len length list ln list_concat list_contains list_count list_extract
list_filter list_has_any list_max list_min list_position list_reduce list_reverse list_slice
list_sort list_transform list_value lower ltrim map map_contains map_entries map_extract_value
map_from_entries map_keys map_values max md5 min month nth_value ntile octet_length
percent_rank pi printf random range rank regexp_escape regexp_extract regexp_extract_all
regexp_full_match regexp_matches regexp_replace regexp_split_to_array regr_intercept
regr_slope repeat replace round row
row_number rtrim sha256 sign starts_with stddev_pop stddev_samp strftime string_agg
string_split strpos
struct_extract struct_pack substring sum timezone to_base to_base64 to_days to_microseconds
to_milliseconds to_months translate trim trunc unhex unnest uuid var_pop var_samp xor year
"""
KNOWN_FUNCTIONS = frozenset(
    (*UDFS, *(macro.partition("(")[0] for macro in MACROS), *_OF_DUCKDB.split())
)
"""The functions that translations use: DuckDB's and the project's own."""
_CLASSES = {
    "CASE", "CAST", "COLUMN_REF", "COMPARISON", "CONJUNCTION", "CONSTANT", "FUNCTION", "LAMBDA",
    "OPERATOR", "STAR", "SUBQUERY", "TYPE", "WINDOW",
}  # fmt: skip
_NODES = {
    "SELECT_NODE", "SET_OPERATION_NODE", "EMPTY", "EXPRESSION_LIST", "JOIN", "SUBQUERY",
    "BASE_TABLE", "ORDER_MODIFIER", "LIMIT_MODIFIER", "DISTINCT_MODIFIER", "ASCENDING",
    "DESCENDING",
}  # fmt: skip


class UnknownStatementError(SqlError):
    """The translation of a statement is no SELECT, or has an unexpected part."""

    def __init__(self, part: str) -> None:
        super().__init__("NOT_SUPPORTED", f"The statement is not supported: {part} in DuckDB's SQL")


def one_select(
    connection: duckdb.DuckDBPyConnection, sql: str, tables: Collection[str]
) -> duckdb.Statement:
    """Return the statement in `sql`. Raises SqlError unless it is one SELECT with known parts."""
    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise UnknownStatementError("another statement")
        ((told,),) = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [sql]).fetchall()
    except duckdb.ParserException as error:
        raise UnknownStatementError(str(error).splitlines()[0]) from None
    known = {name.lower() for name in tables}

    def check(pairs: list[tuple[str, Any]]) -> Any:
        _check_node(dict(pairs), known)
        # the value is not needed, and the whole tree may be large
        return len(pairs)

    try:
        json.loads(told, object_pairs_hook=check)
    except RecursionError:
        raise too_deep() from None
    return statements[0]


@contextmanager
def changing_nothing(connection: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """Run the body in a read-only transaction, which leaves nothing for later queries."""
    connection.execute("BEGIN TRANSACTION READ ONLY")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")


def _check_node(node: dict[str, Any], tables: Collection[str]) -> None:
    kind = node.get("type")
    if node.get("error") is True:
        raise UnknownStatementError(str(node.get("error_message")))
    if "class" in node:
        if node["class"] not in _CLASSES:
            raise UnknownStatementError(str(node["class"]))
    elif isinstance(kind, str) and kind not in _NODES:
        raise UnknownStatementError(kind)
    elif kind == "BASE_TABLE" and (
        node["table_name"].lower() not in tables or node.get("at_clause") is not None
    ):
        raise UnknownStatementError(f"table {node['table_name']}")
    if "function_name" in node and node["function_name"].lower() not in KNOWN_FUNCTIONS:
        raise UnknownStatementError(f"function {node['function_name']}")
    for key in ("schema", "catalog", "schema_name", "catalog_name", "materialized", "columns"):
        # names in another schema, WITH, and COLUMNS(…)
        if node.get(key):
            raise UnknownStatementError(f"{key} {node[key]}")
