# ruff: noqa: S608 - SQL is written here on purpose: names are quoted, texts are literals
"""CREATE, ALTER, DROP and TRUNCATE: what each becomes, as a list of PostgreSQL statements."""

from __future__ import annotations

from collections.abc import Callable

from labctl.sqlserver.errors import SqlError, unsupported
from labctl.sqlserver.tsql.cursor import Cursor
from labctl.sqlserver.tsql.names import PgName, locate, quoted, split_name
from labctl.sqlserver.tsql.tables import TableParser, literal

__all__ = ["definition"]


def definition(text: str, database: str) -> list[str]:
    """Translate a DDL statement; the list runs in one transaction.

    Raises `SqlError` 102 where the statement is malformed and the unsupported-construct error for
    objects this server does not have.
    """
    cursor = Cursor(text)
    verb = cursor.take().key
    kind = cursor.key()
    handlers: dict[tuple[str, str], Callable[[Cursor, str], list[str]]] = {
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


def _create_table(cursor: Cursor, database: str) -> list[str]:
    return TableParser(cursor, database).create()


def _alter_table(cursor: Cursor, database: str) -> list[str]:
    return TableParser(cursor, database).alter()


def _name(cursor: Cursor, database: str) -> tuple[PgName, str]:
    text = cursor.dotted()
    return locate(split_name(text), database), text


def _drop_table(cursor: Cursor, database: str) -> list[str]:
    optional = _if_exists(cursor)
    found = []
    while True:
        place, text = _name(cursor, database)
        target = literal(quoted(place))
        found.append(
            f"SELECT mssql.cdc_before_drop(to_regclass({target})::regclass) "
            f"WHERE to_regclass({target}) IS NOT NULL"
        )
        found.append(
            f"/*drop:{text}*/ DROP TABLE {'IF EXISTS ' if optional else ''}{quoted(place)}"
        )
        if not cursor.skip(","):
            break
    cursor.finish()
    return found


def _truncate(cursor: Cursor, database: str) -> list[str]:
    place, _ = _name(cursor, database)
    cursor.finish()
    return [f"TRUNCATE TABLE {quoted(place)} RESTART IDENTITY"]


def _create_schema(cursor: Cursor, database: str) -> list[str]:
    name = cursor.name()
    if cursor.skip("AUTHORIZATION"):
        cursor.name()
    cursor.finish()
    return [f"SELECT mssql.add_schema({literal(database)}, {literal(name)})"]


def _drop_schema(cursor: Cursor, database: str) -> list[str]:
    optional = _if_exists(cursor)
    name = cursor.name()
    cursor.finish()
    schema = f"{database.lower()}.{name.lower()}"
    return [
        f"DROP SCHEMA {'IF EXISTS ' if optional else ''}{quoted(schema)}",
        f"DELETE FROM mssql.schemas WHERE relname = {literal(schema)}",
    ]


def _create_database(cursor: Cursor, database: str) -> list[str]:
    """Files, sizes and collation options are read and left: there are no such files here."""
    name = cursor.name()
    return [f"SELECT mssql.create_database({literal(name)})"]


def _drop_database(cursor: Cursor, database: str) -> list[str]:
    optional = _if_exists(cursor)
    name = cursor.name()
    cursor.finish()
    guard = ""
    if optional:
        guard = f" FROM mssql.databases d WHERE lower(d.name::text) = lower({literal(name)})"
    return [f"SELECT mssql.drop_database({literal(name)}){guard}"]


_SETTINGS = {
    "ALLOW_SNAPSHOT_ISOLATION": "allows_snapshot",
    "READ_COMMITTED_SNAPSHOT": "reads_snapshot",
}
_WITHOUT_EFFECT = {
    "RECOVERY", "COMPATIBILITY_LEVEL", "SINGLE_USER", "MULTI_USER", "AUTO_CLOSE", "AUTO_SHRINK",
    "AUTO_CREATE_STATISTICS", "AUTO_UPDATE_STATISTICS", "ANSI_NULLS", "ANSI_PADDING",
    "ANSI_WARNINGS", "ARITHABORT", "QUOTED_IDENTIFIER", "PAGE_VERIFY", "TRUSTWORTHY",
}  # fmt: skip


def _alter_database(cursor: Cursor, database: str) -> list[str]:
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
        return [
            f"UPDATE mssql.databases SET {_SETTINGS[setting]} = {value == 'ON'} "
            f"WHERE lower(name::text) = lower({literal(name)})"
        ]
    if setting in _WITHOUT_EFFECT:
        return []
    raise unsupported(f"ALTER DATABASE SET {setting}")


def _create_index(cursor: Cursor, database: str) -> list[str]:
    unique = cursor.skip("UNIQUE")
    while cursor.key() in {"CLUSTERED", "NONCLUSTERED"}:
        cursor.take()
    cursor.expect("INDEX")
    name = cursor.name()
    cursor.expect("ON")
    place, _ = _name(cursor, database)
    sql = f"CREATE {'UNIQUE ' if unique else ''}INDEX {quoted(name.lower())} ON {quoted(place)} "
    sql += cursor.column_list(orders=True)
    nulls = " NULLS NOT DISTINCT" if unique else ""
    if cursor.skip("INCLUDE"):
        sql += " INCLUDE " + cursor.column_list()
    sql += nulls
    parser = TableParser(cursor, database)
    if cursor.skip("WHERE"):
        sql += f" WHERE {parser.boolean(cursor.until({'WITH', 'ON'}))}"
    parser.storage_options()
    cursor.finish()
    comments = []
    if name != name.lower():
        index = quoted((place[0], name.lower()))
        comments.append(f"COMMENT ON INDEX {index} IS {literal(name)}")
    return [sql, *comments]


def _drop_index(cursor: Cursor, database: str) -> list[str]:
    optional = _if_exists(cursor)
    name = cursor.name()
    if cursor.skip("ON"):
        place, _ = _name(cursor, database)
    else:
        cursor.expect(".")
        raise unsupported("DROP INDEX table.index (use DROP INDEX index ON table)")
    cursor.finish()
    index = quoted((place[0], name.lower()))
    return [f"DROP INDEX {'IF EXISTS ' if optional else ''}{index}"]


def _drop_view(cursor: Cursor, database: str) -> list[str]:
    optional = _if_exists(cursor)
    place, text = _name(cursor, database)
    cursor.finish()
    schema = (place[0] or "").split(".", 1)
    return [
        f"/*drop:{text}*/ DROP VIEW {'IF EXISTS ' if optional else ''}{quoted(place)}",
        f"DELETE FROM mssql.modules WHERE type = 'V' AND db = {literal(schema[0])} "
        f"AND schema_name = {literal(schema[-1])} AND lower(name::text) = {literal(place[1])}",
    ]


def _drop_procedure(cursor: Cursor, database: str) -> list[str]:
    optional = _if_exists(cursor)
    place, text = _name(cursor, database)
    cursor.finish()
    schema = (place[0] or "").split(".", 1)
    delete = (
        f"DELETE FROM mssql.modules WHERE type = 'P' AND db = {literal(schema[0])} "
        f"AND schema_name = {literal(schema[-1])} AND lower(name::text) = {literal(place[1])}"
    )
    if optional:
        return [delete]
    found = f"mssql.object_id({literal(database)}, {literal(text)}, 'P')"
    return [f"SELECT mssql.must_exist({literal(text)}, {found})", delete]
