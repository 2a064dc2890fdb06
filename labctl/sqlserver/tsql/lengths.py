"""How long a text of T-SQL may become: REPLICATE cuts off what is longer than its first argument's
type allows, 8,000 bytes unless that is `(max)`."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from labctl.sqlserver.errors import SqlError
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
    """Give every REPLICATE of a statement its longest result as a third argument.

    It is 0 where the type is `(max)`, or a column's, which is not known here. Raises `SqlError` 174
    for another number of arguments.
    """
    # An argument may be one of them: inner ones have to be as the client wrote them.
    for node in reversed(list(tree.find_all(exp.Anonymous))):
        if str(node.name).lower() == "replicate":
            if len(node.expressions) != 2:
                raise SqlError(174, "The replicate function requires 2 argument(s).", severity=15)
            longest = _longest(node.expressions[0], types)
            node.append("expressions", exp.Literal.number(longest))


def _longest(  # noqa: PLR0911 - one rule per kind
    node: exp.Expression, types: Mapping[str, SqlType]
) -> int:
    """Characters of the value's type at most, or _UNLIMITED."""
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
