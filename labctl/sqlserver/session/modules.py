"""CREATE VIEW and CREATE PROCEDURE: PostgreSQL holds views; procedures are stored as text."""

from __future__ import annotations

from psycopg.sql import SQL, Composable, Literal

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.session.executor import Executor
from labctl.sqlserver.session.reply import Reply
from labctl.sqlserver.tsql import translate
from labctl.sqlserver.tsql.cursor import Cursor
from labctl.sqlserver.tsql.ddl import drop_view
from labctl.sqlserver.tsql.object_names import PgName, identifier, locate, split_name

__all__ = ["define_module", "module_kind", "split_procedure"]

_KINDS = {"PROC": "P", "PROCEDURE": "P", "VIEW": "V", "TRIGGER": "TR", "FUNCTION": "FN"}


def module_kind(text: str) -> str | None:
    """Return P, V, TR or FN if the statement creates or alters such a module, else None."""
    cursor = Cursor(text)
    verb = cursor.take().key
    if verb not in {"CREATE", "ALTER"}:
        return None
    cursor.skip("OR", "ALTER")
    return _KINDS.get(cursor.key())


async def define_module(executor: Executor, text: str, reply: Reply) -> None:
    """Create or alter a view or procedure."""
    kind = module_kind(text)
    if kind not in {"P", "V"}:
        raise unsupported("CREATE TRIGGER" if kind == "TR" else "CREATE FUNCTION")
    cursor = Cursor(text)
    replaces = cursor.take().key == "ALTER"
    replaces = cursor.skip("OR", "ALTER") or replaces
    cursor.take()
    shown = cursor.dotted()
    schema, name = locate(split_name(shown), executor.session.database)
    if schema is None:
        raise unsupported("a temporary view or procedure")
    database, _, schema_name = schema.partition(".")
    statements: list[Composable] = []
    if replaces:
        statements.append(
            SQL(
                "DELETE FROM mssql.modules WHERE db = {} AND schema_name = {} "
                "AND lower(name::text) = {}"
            ).format(Literal(database), Literal(schema_name), Literal(name))
        )
    translated = None
    if kind == "V":
        view = _view(cursor, (schema, name), executor)
        if replaces:
            statements += drop_view((schema, name))
        statements.append(view)
        translated = view.as_string(None)
    else:
        split_procedure(text)
    description = "VIEW" if kind == "V" else "SQL_STORED_PROCEDURE"
    statements.append(
        SQL(
            "INSERT INTO mssql.modules (db, schema_name, name, type, type_desc, definition, "
            "translated) VALUES ({})"
        ).format(
            SQL(", ").join(
                Literal(value)
                for value in (
                    database, schema_name, split_name(shown)[-1], kind, description, text,
                    translated,
                )
            )
        )
    )  # fmt: skip
    if kind == "V":
        statements.append(SQL("SELECT mssql.attach_views({})").format(Literal(database)))
    try:
        await executor.define(statements, "CREATE", reply)
    except SqlError as error:
        if error.number == 2627:
            raise SqlError(
                2714, f"There is already an object named '{split_name(shown)[-1]}' in the "
                "database.", state=3,
            ) from None  # fmt: skip
        raise


def _view(cursor: Cursor, place: PgName, executor: Executor) -> Composable:
    """Return the view's definition for PostgreSQL."""
    columns = cursor.column_list() if cursor.key() == "(" else SQL("")
    if cursor.key() == "WITH":
        raise unsupported("WITH on a view")
    cursor.expect("AS")
    body = cursor.slice(cursor.at, len(cursor.tokens)).rstrip(";")
    statement = translate.query(body, executor.session.database, {})
    if statement.parameters or not statement.returns:
        raise SqlError(102, "Incorrect syntax in a view's definition.", severity=15)
    return SQL("CREATE VIEW {} {} AS {}").format(identifier(place), columns, statement.sql)


def split_procedure(text: str) -> tuple[str, str]:
    """Return a procedure's parameter list and body."""
    cursor = Cursor(text)
    cursor.take()
    cursor.skip("OR", "ALTER")
    cursor.take()
    cursor.dotted()
    if cursor.key() == "(":
        parameters = cursor.parenthesized()
    else:
        start = cursor.at
        while cursor.key() not in {"AS", "WITH"} or (
            cursor.key() == "AS" and cursor.tokens[cursor.at - 1].kind == "variable"
        ):
            cursor.take()
        parameters = cursor.slice(start, cursor.at)
    if cursor.key() == "WITH":
        raise unsupported("WITH on a procedure")
    cursor.expect("AS")
    return parameters, cursor.slice(cursor.at, len(cursor.tokens))
