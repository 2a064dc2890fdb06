"""Definitions of the views of `gold/` that the Spark application keeps as tables.

A definition is one SELECT with GROUP BY over joined tables. It consists of three texts in Spark's
SQL: all rows; the groups that given rows of a table are in; the rows of given groups. So Spark
recomputes only the groups that a change can have affected.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from labctl.config.aws import CATALOG
from labctl.errors import ExitCode, LabError
from labctl.lake.gold import GoldView
from labctl.lake.query_text import unusable
from labctl.lake.spark_text import AGGREGATES, spark_tree, written
from lakecontract.bookkeeping import BOOKKEEPING
from lakecontract.gold_definition import GROUPS, KEY, GoldDefinition
from sqlapi.sql.scope import Table
from sqlapi.sql.statement_errors import SqlError

__all__ = ["definitions"]


def definitions(
    names: Sequence[str], views: Iterable[GoldView], tables: Iterable[str]
) -> list[GoldDefinition]:
    """Return the definitions of the named views for the Spark application; `tables` are silver's.

    Raise LabError (USAGE) naming the key of `lab.toml`, or the file that cannot be used.
    """
    by_name, known = {view.name: view for view in views}, set(tables)
    found = []
    for name in names:
        if name not in by_name:
            raise LabError(
                f"gold.materialised: there is no view {name}",
                hint=f"views of gold/: {', '.join(sorted(by_name)) or 'none'}",
                exit_code=ExitCode.USAGE,
            )
        if name in known:
            raise LabError(
                f"gold.materialised: {name} is a table of silver already",
                hint="give the view another name",
                exit_code=ExitCode.USAGE,
            )
        try:
            found.append(_definition(by_name[name], by_name, known))
        except SqlError as error:
            raise unusable(by_name[name].file, f"it cannot be materialised: {error}") from None
    return found


@dataclass(frozen=True)
class _Names:
    """A `sqlapi.sql.scope.Schema` of table names without columns, which Spark knows itself."""

    views: Mapping[str, GoldView]
    tables: set[str]

    def table(self, catalog: str | None, database: str, name: str, as_of: str | None) -> Table:
        full = f"{database}.{name}"
        if (catalog and catalog.lower() != CATALOG.lower()) or as_of:
            raise _no(f"{full} is read from another catalog or time")
        if view := self.views.get(full):
            return Table("", database, name, {}, view.sql, view.database)
        if full not in self.tables:
            raise _no(f"{full} is no table of silver and no view of gold/")
        return Table(full, database, name, {})


def _definition(view: GoldView, views: Mapping[str, GoldView], tables: set[str]) -> GoldDefinition:
    text = spark_tree(view.sql, _Names(views, tables), view.database)
    tree = text.tree
    if not text.inputs:
        raise _no("it reads no table")
    _check_shape(tree)
    named = {_label(part): part.unalias() for part in tree.expressions}
    if len(named) < len(tree.expressions):
        raise _no("two columns have one name")
    groups = _groups(tree, list(named.values()))
    keys = {label: part for label, part in named.items() if part in groups}
    if lacking := [group for group in groups if group not in keys.values()]:
        raise _no(f"it groups by {lacking[0].sql()}, and does not show it")
    if reserved := [label for label in named if label.startswith(BOOKKEEPING)]:
        raise _no(f"a column is called {reserved[0]}")
    return GoldDefinition(
        name=view.name,
        inputs=text.inputs,
        keys=tuple(keys),
        rows=text.sql,
        groups=written(_of_groups(tree, keys.values())),
        rows_of_groups=written(_within_groups(tree, keys.values())),
    )


def _check_shape(tree: exp.Select) -> None:
    """Raise SqlError unless a changed row affects only the groups of its joined rows.

    See the module for the reason.
    """
    if not tree.args.get("group"):
        raise _no("it has no GROUP BY")
    if tree.find(exp.With):
        raise _no("it has WITH")
    if tree.args.get("distinct"):
        raise _no("it has SELECT DISTINCT")
    for inner in tree.find_all(exp.Select):
        if inner is tree:
            continue
        if any(inner.args.get(part) for part in ("group", "having", "distinct")) or any(
            str(call.this).lower() in AGGREGATES for call in inner.find_all(exp.Anonymous)
        ):
            raise _no("what it reads is grouped already")
    for join in tree.find_all(exp.Join):
        if join.side not in ("", "LEFT"):
            raise _no(f"it has {join.side} JOIN")


def _label(part: exp.Expr) -> str:
    if part.is_star or not isinstance(part, exp.Alias | exp.Column):
        raise _no(f"a column has no name ({part.sql(dialect='trino')}): write AS")
    return part.alias_or_name.lower()


def _groups(tree: exp.Select, parts: Sequence[exp.Expr]) -> list[exp.Expr]:
    """Return the expressions of GROUP BY; a number stands for the column at that position."""
    found = []
    for group in tree.args["group"].expressions:
        if isinstance(group, exp.Literal):
            if group.is_string or not 1 <= int(group.name) <= len(parts):
                raise _no(f"it groups by {group.sql()}")
            found.append(parts[int(group.name) - 1])
        else:
            found.append(group)
    return found


def _of_groups(tree: exp.Select, keys: Iterable[exp.Expr]) -> exp.Select:
    """Return a query for the groups that the joined rows are in."""
    other = tree.copy()
    for part in ("group", "having"):
        other.set(part, None)
    other.set("distinct", exp.Distinct())
    other.set(
        "expressions",
        [exp.alias_(key.copy(), f"{KEY}{number}") for number, key in enumerate(keys)],
    )
    return other


def _within_groups(tree: exp.Select, keys: Iterable[exp.Expr]) -> exp.Select:
    """Return the same query, restricted to the groups in the table `GROUPS`."""
    other = tree.copy()
    same = [
        exp.NullSafeEQ(this=key.copy(), expression=exp.column(f"{KEY}{number}", GROUPS))
        for number, key in enumerate(keys)
    ]
    join = exp.Join(this=exp.to_table(GROUPS), side="LEFT", kind="SEMI", on=exp.and_(*same))
    other.append("joins", join)
    return other


def _no(why: str) -> SqlError:
    return SqlError("NOT_SUPPORTED", why)
