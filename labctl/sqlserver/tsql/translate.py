"""Translation of T-SQL queries to PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast

import sqlglot
from psycopg.sql import SQL, Composable
from sqlglot import exp
from sqlglot.errors import ParseError, TokenError

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.limits import MOST_TOKENS_TRANSLATED, too_deep
from labctl.sqlserver.sqltypes import MAX, SqlType
from labctl.sqlserver.tsql.dialect import TSqlIn, written
from labctl.sqlserver.tsql.lexer import tokenize, unquote
from labctl.sqlserver.tsql.object_names import identifier
from labctl.sqlserver.tsql.parser import LONGEST_KEPT
from labctl.sqlserver.tsql.prepare import prepare
from labctl.sqlserver.tsql.rewrite import Rewriter
from labctl.sqlserver.tsql.row_changes import change_sql
from labctl.sqlserver.tsql.statement import Statement

__all__ = [
    "condition",
    "expression",
    "fixed_condition",
    "fixed_expression",
    "query",
    "variables_in",
    "without_long_literals",
]

Types = Mapping[str, SqlType]
_LARGEST_SIZED = {"varchar": 8_000, "nvarchar": 4_000}
"""Characters above which a literal has the type `(max)`. Such literals are passed as parameters,
because sqlglot reads one character at a time."""


def variables_in(text: str) -> set[str]:
    """Return a statement's variables in lower case. Raise `SqlError` 8623 if it is too long."""
    tokens = tokenize(text, most=MOST_TOKENS_TRANSLATED)
    return {t.text.lower() for t in tokens if t.kind == "variable"}


def without_long_literals(text: str) -> tuple[str, dict[str, tuple[SqlType, str]]]:
    """Replace each long literal by a variable; return the statement and the variables."""
    if len(text) <= min(_LARGEST_SIZED.values()):
        return text, {}
    pieces: list[str] = []
    variables: dict[str, tuple[SqlType, str]] = {}
    end = 0
    for token in tokenize(text):
        kind = "nvarchar" if token.text[:1] in "Nn" else "varchar"
        if token.kind == "string" and len(token.text) > _LARGEST_SIZED[kind]:
            name = f"@$literal{len(variables)}"
            variables[name] = SqlType(kind, length=MAX), unquote(token.text)
            pieces += [text[end : token.start], name]
            end = token.end
    return "".join([*pieces, text[end:]]), variables


def query(text: str, database: str, types: Types) -> Statement:
    """Translate SELECT, INSERT, UPDATE, DELETE or MERGE.

    `types` holds the declared variables. Raises `SqlError` with T-SQL's number for an invalid
    statement, and the unsupported-construct error for what this server does not support.
    """
    mentioned = variables_in(text)
    known = tuple(sorted((n, t) for n, t in types.items() if n in mentioned))
    translated = _query if len(text) > LONGEST_KEPT else _query_and_keep
    try:
        return translated(text, database, known)
    except RecursionError:
        raise too_deep() from None


def expression(text: str, database: str, types: Types, kind: SqlType | None = None) -> Statement:
    """Translate a scalar expression into `SELECT expression`, converted to `kind` if given."""
    target = f"CAST(({text}) AS {kind.declared()})" if kind is not None else f"({text})"
    return query(f"SELECT {target}", database, types)


def condition(text: str, database: str, types: Types) -> Statement:
    """Translate the condition of IF or WHILE into a SELECT of 1 or 0."""
    return query(f"SELECT CASE WHEN {text} THEN 1 ELSE 0 END", database, types)


def fixed_expression(text: str, database: str) -> Composable:
    """Translate a scalar expression of a definition, which must not use variables."""
    return _fixed(f"SELECT ({text})", database, lambda item: item)


def fixed_condition(text: str, database: str) -> Composable:
    """Translate a condition of a definition, which must not use variables."""

    def of(item: exp.Expression) -> exp.Expression:
        branches = item.args.get("ifs") or []
        return cast(exp.Expression, branches[0].this if len(branches) == 1 else item)

    return _fixed(f"SELECT CASE WHEN {text} THEN 1 END", database, of)


def _fixed(
    text: str, database: str, part: Callable[[exp.Expression], exp.Expression]
) -> Composable:
    variable = next(iter(variables_in(text)), None)
    try:
        return _fixed_part(text, database, part, variable)
    except RecursionError:
        raise too_deep() from None


def _fixed_part(
    text: str,
    database: str,
    part: Callable[[exp.Expression], exp.Expression],
    variable: str | None,
) -> Composable:
    prepared, _ = prepare(text)
    tree, rewriter = _parse(prepared), Rewriter(database, {})
    rest = [value for key, value in tree.args.items() if value and key != "expressions"]
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or rest:
        raise SqlError(102, f"Incorrect syntax near '{text}'.", severity=15)
    if variable is not None:
        raise unsupported(f"{variable} in a table definition")
    rewritten = part(rewriter.rewrite(tree).expressions[0])
    if rewriter.parameters:
        raise unsupported(f"{rewriter.parameters[0]} in a table definition")
    return written(rewritten)


@lru_cache(maxsize=1024)
def _query_and_keep(text: str, database: str, known: tuple[tuple[str, SqlType], ...]) -> Statement:
    return _query(text, database, known)


def _query(text: str, database: str, known: tuple[tuple[str, SqlType], ...]) -> Statement:
    prepared, top = prepare(text)
    tree = _parse(prepared)
    rewriter = Rewriter(database, dict(known))
    if isinstance(tree, exp.Select | exp.SetOperation | exp.Subquery):
        if top is not None:
            raise unsupported("TOP here")
        return _select(tree, rewriter)
    if isinstance(tree, exp.Insert | exp.Update | exp.Delete | exp.Merge):
        return change_sql(tree, rewriter, top)
    raise unsupported(f"the statement {text.split(maxsplit=1)[0].upper()}")


def _parse(text: str) -> exp.Expression:
    try:
        trees = sqlglot.parse(text, read=TSqlIn)
    except (ParseError, TokenError, ValueError) as error:  # ValueError: for `SELECT .5 = 1`
        near = ""
        if isinstance(error, ParseError) and error.errors:
            near = str(error.errors[0].get("highlight") or "")
        raise SqlError(102, f"Incorrect syntax near '{near}'.", severity=15) from None
    found = [t for t in trees if t is not None]
    if len(found) != 1:
        raise SqlError(102, f"Incorrect syntax near '{text[:20]}'.", severity=15)
    return cast(exp.Expression, found[0])


def _select(tree: exp.Expression, rewriter: Rewriter) -> Statement:
    first = tree
    while isinstance(first, exp.SetOperation | exp.Subquery):
        first = first.this
    if not isinstance(first, exp.Select):
        raise unsupported("a query without SELECT")
    assigns = _assignments(first) if first is tree else ()
    outputs = tuple(rewriter.output(e) for e in first.expressions)
    into = tree.args.get("into")
    reads = tree.find(exp.From) is not None
    if into is not None:
        tree.set("into", None)
    rewritten = rewriter.rewrite(tree)
    sql = written(rewritten)
    statement = Statement(
        sql,
        "SELECT",
        rewriter.parameters,
        returns=not assigns and into is None,
        outputs=outputs,
        assigns=assigns,
        locks=tuple(rewriter.locks),
        reads=reads,
    )
    if into is not None:
        target = rewriter.place(into.this)
        if target[0] is None:
            statement.sql = SQL("CREATE TEMP TABLE {} AS {}").format(identifier(target[1]), sql)
        else:
            statement.sql = SQL("CREATE TABLE {} AS {}").format(identifier(target), sql)
        statement.verb = "SELECT INTO"
    return statement


def _assignments(select: exp.Select) -> tuple[str, ...]:
    """Return the variables of `SELECT @a = x, @b = y`; keep the values in the select list."""
    targets: list[str] = []
    for item in select.expressions:
        if isinstance(item, exp.EQ) and isinstance(item.this, exp.Parameter):
            targets.append("@" + item.this.name.lower())
            item.replace(item.expression)
    if targets and len(targets) != len(select.expressions):
        raise SqlError(
            141,
            "A SELECT statement that assigns a value to a variable must not be combined with "
            "data-retrieval operations.",
            severity=15,
        )
    return tuple(targets)
