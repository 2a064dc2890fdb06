"""Translation of CREATE, ALTER, DROP and TRUNCATE to lists of PostgreSQL statements."""

from __future__ import annotations

from collections.abc import Callable

from psycopg.sql import SQL, Composable, Literal

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.tsql.alter import AlterParser
from labctl.sqlserver.tsql.create_table import TableParser
from labctl.sqlserver.tsql.cursor import Cursor
from labctl.sqlserver.tsql.object_names import PgName, identifier, locate, quoted, split_name

__all__ = ["definition", "drop_view"]


def definition(text: str, database: str) -> list[Composable]:
    """Translate a DDL statement to statements that must run in one transaction.

    Raises `SqlError` 102 for a malformed statement and the unsupported-construct error for objects
    that this server does not have.
    """
    cursor = Cursor(text)
    verb = cursor.take().key
    kind = cursor.key()
    handlers: dict[tuple[str, str], Callable[[Cursor, str], list[Composable]]] = {
        ("CREATE", "TABLE"): _create_table,
        ("ALTER", "TABLE"): _alter_table,
        ("DROP", "TABLE"): _drop_table,
        ("TRUNCATE", "TABLE"): _truncate,
        ("CREATE", "SCHEMA"): _create_schema,
        ("DROP", "SCHEMA"): _drop_schema,
        ("CREATE", "DATABASE"): _create_database,
        ("DROP", "DATABASE"): _drop_database,
        ("ALTER", "DATABASE"): _alter_database,
        ("DROP", "INDEX"): _drop_index,
        ("DROP", "VIEW"): _drop_view,
        ("DROP", "PROCEDURE"): _drop_procedure,
        ("DROP", "PROC"): _drop_procedure,
    }
    if verb == "CREATE" and kind in {"UNIQUE", "CLUSTERED", "NONCLUSTERED", "INDEX"}:
        return _create_index(cursor, database)
    handler = handlers.get((verb, kind))
    if handler is None:
        raise unsupported(f"{verb} {kind}".strip())
    cursor.take()
    return handler(cursor, database)


def _if_exists(cursor: Cursor) -> bool:
    if not cursor.skip("IF"):
        return False
    cursor.expect("EXISTS")
    return True


def _create_table(cursor: Cursor, database: str) -> list[Composable]:
    return TableParser(cursor, database).create()


def _alter_table(cursor: Cursor, database: str) -> list[Composable]:
    return AlterParser(cursor, database).alter()


def _name(cursor: Cursor, database: str) -> tuple[PgName, str]:
    text = cursor.dotted()
    return locate(split_name(text), database), text


_DETACH_VIEWS = SQL(
    "SELECT mssql.detach_views(to_regclass({0})::regclass) WHERE to_regclass({0}) IS NOT NULL"
)
_BEFORE_DROP = (
    SQL("SELECT mssql.cdc_before_drop(to_regclass({0})::regclass) "
        "WHERE to_regclass({0}) IS NOT NULL"),
    SQL("SELECT mssql.forget_table(to_regclass({0})::regclass) "
        "WHERE to_regclass({0}) IS NOT NULL"),
    _DETACH_VIEWS,
)  # fmt: skip


def _drop_table(cursor: Cursor, database: str) -> list[Composable]:
    optional = _if_exists(cursor)
    drop = SQL("DROP TABLE IF EXISTS {}" if optional else "DROP TABLE {}")
    found: list[Composable] = []
    while True:
        place, _ = _name(cursor, database)
        target = Literal(quoted(place))
        found += [step.format(target) for step in _BEFORE_DROP]
        found.append(drop.format(identifier(place)))
        if not cursor.skip(","):
            break
    cursor.finish()
    return found


def _truncate(cursor: Cursor, database: str) -> list[Composable]:
    place, _ = _name(cursor, database)
    cursor.finish()
    return [SQL("TRUNCATE TABLE {} RESTART IDENTITY").format(identifier(place))]


def _create_schema(cursor: Cursor, database: str) -> list[Composable]:
    name = cursor.name()
    if cursor.skip("AUTHORIZATION"):
        cursor.name()
    cursor.finish()
    return [SQL("SELECT mssql.add_schema({}, {})").format(Literal(database), Literal(name))]


def _drop_schema(cursor: Cursor, database: str) -> list[Composable]:
    optional = _if_exists(cursor)
    name = cursor.name()
    cursor.finish()
    schema = f"{database.lower()}.{name.lower()}"
    drop = SQL("DROP SCHEMA IF EXISTS {}" if optional else "DROP SCHEMA {}")
    return [
        drop.format(identifier(schema)),
        SQL("DELETE FROM mssql.schemas WHERE relname = {}").format(Literal(schema)),
    ]


def _create_database(cursor: Cursor, database: str) -> list[Composable]:
    """Translate CREATE DATABASE; ignore options for files, sizes and collation."""
    name = cursor.name()
    return [SQL("SELECT mssql.create_database({})").format(Literal(name))]


def _drop_database(cursor: Cursor, database: str) -> list[Composable]:
    optional = _if_exists(cursor)
    name = cursor.name()
    cursor.finish()
    if optional:
        drop = SQL(
            "SELECT mssql.drop_database({0}) FROM mssql.databases d "
            "WHERE lower(d.name::text) = lower({0})"
        )
    else:
        drop = SQL("SELECT mssql.drop_database({0})")
    return [drop.format(Literal(name))]


_SETTINGS = {
    "ALLOW_SNAPSHOT_ISOLATION": identifier("allows_snapshot"),
    "READ_COMMITTED_SNAPSHOT": identifier("reads_snapshot"),
}
_WITHOUT_EFFECT = {
    "RECOVERY", "COMPATIBILITY_LEVEL", "SINGLE_USER", "MULTI_USER", "AUTO_CLOSE", "AUTO_SHRINK",
    "AUTO_CREATE_STATISTICS", "AUTO_UPDATE_STATISTICS", "ANSI_NULLS", "ANSI_PADDING",
    "ANSI_WARNINGS", "ARITHABORT", "QUOTED_IDENTIFIER", "PAGE_VERIFY", "TRUSTWORTHY",
}  # fmt: skip


def _alter_database(cursor: Cursor, database: str) -> list[Composable]:
    name = database if cursor.skip("CURRENT") else cursor.name()
    if cursor.skip("ADD"):
        if cursor.key() not in {"FILE", "FILEGROUP", "LOG"}:
            raise unsupported(f"ALTER DATABASE ADD {cursor.key()}")
        return []
    cursor.expect("SET")
    setting = cursor.take().key
    if setting in _SETTINGS:
        value = cursor.take().key
        if value not in {"ON", "OFF"}:
            raise SqlError(102, f"Incorrect syntax near '{value}'.", severity=15)
        update = SQL("UPDATE mssql.databases SET {} = {} WHERE lower(name::text) = lower({})")
        return [update.format(_SETTINGS[setting], Literal(value == "ON"), Literal(name))]
    if setting in _WITHOUT_EFFECT:
        return []
    raise unsupported(f"ALTER DATABASE SET {setting}")


def _create_index(cursor: Cursor, database: str) -> list[Composable]:
    unique = cursor.skip("UNIQUE")
    while cursor.key() in {"CLUSTERED", "NONCLUSTERED"}:
        cursor.take()
    cursor.expect("INDEX")
    name = cursor.name()
    cursor.expect("ON")
    place, _ = _name(cursor, database)
    create = SQL("CREATE UNIQUE INDEX {} ON {} {}" if unique else "CREATE INDEX {} ON {} {}")
    columns = cursor.column_list(orders=True)
    sql = create.format(identifier(name.lower()), identifier(place), columns)
    if cursor.skip("INCLUDE"):
        sql += SQL(" INCLUDE {}").format(cursor.column_list())
    if unique:
        sql += SQL(" NULLS NOT DISTINCT")
    parser = TableParser(cursor, database)
    if cursor.skip("WHERE"):
        sql += SQL(" WHERE {}").format(parser.boolean(cursor.until({"WITH", "ON"})))
    parser.storage_options()
    cursor.finish()
    if name == name.lower():
        return [sql]
    index = identifier((place[0], name.lower()))
    return [sql, SQL("COMMENT ON INDEX {} IS {}").format(index, Literal(name))]


def _drop_index(cursor: Cursor, database: str) -> list[Composable]:
    optional = _if_exists(cursor)
    name = cursor.name()
    if cursor.skip("ON"):
        place, _ = _name(cursor, database)
    else:
        cursor.expect(".")
        raise unsupported("DROP INDEX table.index (use DROP INDEX index ON table)")
    cursor.finish()
    drop = SQL("DROP INDEX IF EXISTS {}" if optional else "DROP INDEX {}")
    return [drop.format(identifier((place[0], name.lower())))]


def drop_view(place: PgName) -> list[Composable]:
    """Return the SQL to drop a view, if it exists, after the views that read it."""
    return [
        _DETACH_VIEWS.format(Literal(quoted(place))),
        SQL("DROP VIEW IF EXISTS {}").format(identifier(place)),
    ]


def _drop_view(cursor: Cursor, database: str) -> list[Composable]:
    optional = _if_exists(cursor)
    place, text = _name(cursor, database)
    cursor.finish()
    found = [] if optional else [_must_exist("V", text, database)]
    return [*found, *drop_view(place), _forget_module("V", place)]


def _must_exist(kind: str, text: str, database: str) -> Composable:
    check = SQL("SELECT mssql.must_exist({0}, {1}, mssql.object_id({2}, {1}, {0}))")
    return check.format(Literal(kind), Literal(text), Literal(database))


def _drop_procedure(cursor: Cursor, database: str) -> list[Composable]:
    optional = _if_exists(cursor)
    place, text = _name(cursor, database)
    cursor.finish()
    delete = _forget_module("P", place)
    return [delete] if optional else [_must_exist("P", text, database), delete]


def _forget_module(kind: str, place: PgName) -> Composable:
    schema = (place[0] or "").split(".", 1)
    return SQL(
        "DELETE FROM mssql.modules WHERE type = {} AND db = {} AND schema_name = {} "
        "AND lower(name::text) = {}"
    ).format(Literal(kind), Literal(schema[0]), Literal(schema[-1]), Literal(place[1]))
