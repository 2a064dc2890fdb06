"""Length limits of T-SQL texts: REPLICATE truncates its result to the limit of its first argument's
type, 8,000 bytes unless the type is `(max)`."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.sqltypes import MAX, SqlType
from labctl.sqlserver.tsql.casts import sql_type

__all__ = ["add_limits"]

_VARCHAR, _NVARCHAR = 8_000, 4_000
_UNLIMITED = 0
_OF_FIRST_ARGUMENT = {
    "upper", "lower", "ltrim", "rtrim", "trim", "left", "right", "substring", "reverse", "replace",
    "replicate", "stuff", "isnull", "coalesce", "nullif", "translate",
}  # fmt: skip
_SHORT = {"space", "char", "nchar", "str", "quotename", "db_name", "newid", "format"}


def add_limits(tree: exp.Expression, types: Mapping[str, SqlType]) -> None:
    """Add the maximum result length as a third argument to each REPLICATE of a statement.

    The length is 0 if the type is `(max)` or that of a column, which is unknown here. Raises
    `SqlError` 174 for a wrong number of arguments.
    """
    # An argument may be a REPLICATE too: inner calls come first.
    for node in reversed(list(tree.find_all(exp.Anonymous))):
        if str(node.name).lower() == "replicate":
            if len(node.expressions) != 2:
                raise SqlError(174, "The replicate function requires 2 argument(s).", severity=15)
            longest = _longest(node.expressions[0], types)
            node.append("expressions", exp.Literal.number(longest))


def _longest(  # noqa: PLR0911 - one rule per kind
    node: exp.Expression, types: Mapping[str, SqlType]
) -> int:
    """Return the maximum characters of the value's type, or _UNLIMITED."""
    if isinstance(node, exp.Paren | exp.Collate):
        return _longest(node.this, types)
    if isinstance(node, exp.Literal):
        return _VARCHAR
    if isinstance(node, exp.National):
        return _NVARCHAR
    if isinstance(node, exp.Parameter):
        return _of(types.get("@" + node.name.lower()))
    if isinstance(node, exp.Cast | exp.TryCast):
        return _of(sql_type(node.to))
    if isinstance(node, exp.Convert):
        return _of(sql_type(node.this))
    if isinstance(node, exp.Add):
        sides = [_longest(side, types) for side in (node.this, node.expression)]
        return _UNLIMITED if _UNLIMITED in sides else min(sides)
    if isinstance(node, exp.Anonymous):
        name = str(node.name).lower()
        if name in _SHORT:
            return _VARCHAR
        if name in _OF_FIRST_ARGUMENT and node.expressions:
            return _longest(node.expressions[0], types)
    return _UNLIMITED


def _of(kind: SqlType | None) -> int:
    if kind is None or kind.length == MAX:
        return _UNLIMITED
    return _NVARCHAR if kind.is_unicode else _VARCHAR
