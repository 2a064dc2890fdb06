"""Translation of Athena's SQL to Spark's, limited to what both are known to answer alike.

Values agree if whole numbers and decimals are exact or an error. So a session that runs such a text
has the settings of `lakecontract.exact`, and reads tables with its `shown`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from lakecontract.gold_definition import INPUT
from sqlapi.sql.dialect import parse_query
from sqlapi.sql.scope import Schema
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.types import Type

__all__ = ["AGGREGATES", "SparkText", "spark_tree", "spark_type", "written"]

AGGREGATES = frozenset({"count", "max", "min", "sum"})
_WIDTH = 60
_FUNCTIONS = AGGREGATES | {"coalesce", "nullif", "round"}
_AS_THEY_ARE = (
    *(
        exp.From,
        exp.Where,
        exp.Having,
        exp.TableAlias,
        exp.Alias,
        exp.Identifier,
        exp.Star,
        exp.Null,
        exp.Boolean,
        exp.Paren,
    ),
    *(exp.And, exp.Or, exp.Not, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is),
    *(exp.Case, exp.If, exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.DataType, exp.Literal),
)
_PARTS: Mapping[type[exp.Expr], set[str]] = {
    exp.Select: {"expressions", "from_", "joins", "where", "group", "having", "distinct", "with_"},
    exp.Distinct: {"expressions"},
    exp.Group: {"expressions"},
    exp.In: {"expressions"},
    exp.Join: {"side", "kind", "on"},
    exp.Between: {"low", "high"},
    exp.Anonymous: {"expressions"},
    # Spark would not know the database in a longer name: the table has another name there.
    exp.Column: {"table"},
    exp.Cast: {"to"},
    exp.With: {"expressions"},
    exp.CTE: set(),
    exp.Subquery: set(),
    exp.Table: {"db", "catalog"},
}
"""Parts that each node may have besides its subject (`this`) and its name (`alias`)."""


@dataclass(frozen=True)
class SparkText:
    """A query for Spark."""

    tree: exp.Select
    inputs: tuple[str, ...]
    """The tables that it reads, in the order of their numbers; a table that is read twice is there
    twice."""

    @property
    def sql(self) -> str:
        return written(self.tree)


def spark_tree(sql: str, schema: Schema, database: str) -> SparkText:
    """Translate a SELECT to one over tables alone, with each view replaced by its own SELECT.

    Raise SqlError for what is wrong, and for what is not known to agree.
    """
    inputs: list[str] = []
    tree = _query(sql, schema, database, inputs, ())
    return SparkText(tree, tuple(inputs))


def spark_type(what: str, kind: Type) -> str:
    """Return Spark's type for values of a type of Trino's. Raise SqlError if they may differ."""
    match kind.name:
        case "decimal":
            return f"decimal({kind.size},{kind.scale})"
        case "varchar":
            return "string"
        case "timestamp":
            return "timestamp_ntz"
        case "boolean" | "date" | "bigint" | "integer" | "smallint" | "tinyint":
            return kind.name
    raise SqlError("NOT_SUPPORTED", f"{what} is of type {kind}, in which Spark may differ")


def written(tree: exp.Expr) -> str:
    """Return Spark's text of a tree."""
    return tree.sql(dialect="spark", identify=True)


def _query(
    sql: str, schema: Schema, database: str, inputs: list[str], within: tuple[str, ...]
) -> exp.Select:
    tree = parse_query(sql)
    if not isinstance(tree, exp.Select):
        raise _refused(tree)
    for node in tree.walk():
        _check(node)
    inside = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    for table in list(tree.find_all(exp.Table)):
        name = table.name.lower()
        if table.db or name not in inside:
            _resolve(table, schema, database, inputs, within)
    return tree


def _resolve(
    table: exp.Table, schema: Schema, database: str, inputs: list[str], within: tuple[str, ...]
) -> None:
    """Replace the name by the table, or by the SELECT of the view."""
    name = table.name.lower()
    found = schema.table(table.catalog or None, (table.db or database).lower(), name, None)
    alias = table.args.get("alias") or exp.TableAlias(this=exp.to_identifier(name))
    if found.view is None:
        made: exp.Expr = exp.Table(
            this=exp.to_identifier(f"{INPUT}{len(inputs)}"), alias=alias.copy()
        )
        inputs.append(found.key)
    else:
        full = f"{found.database}.{found.name}"
        if full in within:
            raise SqlError("INVALID_VIEW", f"View {full} reads itself")
        inner = _query(found.view, schema, found.view_database, inputs, (*within, full))
        made = exp.Subquery(this=inner, alias=alias.copy())
    table.replace(made)


def _given(node: exp.Expr) -> Iterator[str]:
    """Return the parts that a node has, besides its subject (`this`) and its name (`alias`)."""
    return (key for key, value in node.args.items() if value and key not in ("this", "alias"))


def _check(node: exp.Expr) -> None:
    """Raise SqlError for a node that is not known to mean the same in Spark."""
    kind = type(node)
    parts = _PARTS.get(kind)
    sound = isinstance(node, _AS_THEY_ARE) if parts is None else set(_given(node)) <= parts
    if not sound or not _CONDITIONS.get(kind, lambda _: True)(node):
        raise _refused(node)


def _is_known_call(call: exp.Expr) -> bool:
    name, arguments = str(call.this).lower(), call.expressions
    if name == "round":
        return len(arguments) == 1 or all(d.is_int and not d.is_string for d in arguments[1:])
    return name in _FUNCTIONS


_CONDITIONS: Mapping[type[exp.Expr], Callable[[Any], bool]] = {
    exp.Anonymous: _is_known_call,
    exp.Cast: lambda node: node.to.this == exp.DType.DATE and node.this.is_string,
    exp.Is: lambda node: isinstance(node.expression, exp.Null),
    exp.Join: lambda node: node.kind in ("", "CROSS", "INNER"),
    exp.Subquery: lambda node: isinstance(node.parent, exp.From | exp.Join),
    exp.Table: lambda node: isinstance(node.this, exp.Identifier),
}
"""Further conditions, by kind of node."""


def _refused(node: exp.Expr) -> SqlError:
    what = f"Function '{node.this}'" if isinstance(node, exp.Anonymous) else _shortened(node)
    return SqlError("NOT_SUPPORTED", f"{what} is not known to be answered alike by Spark")


def _shortened(node: exp.Expr) -> str:
    text = node.sql(dialect="trino")
    return text if len(text) <= _WIDTH else f"{text[:_WIDTH]}…"
