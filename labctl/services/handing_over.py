"""Transfer of a PostgreSQL database, and of all in it, to the role that owns the lab's sources.

A person may have created something there with `labctl client psql --admin`.
"""

# ruff: noqa: S608 - the one statement put together is of this module's own constants

from __future__ import annotations

from typing import TYPE_CHECKING

from labctl.config.endpoints import Database

if TYPE_CHECKING:
    import psycopg2

__all__ = ["hand_over"]

_OWNED = {
    # A column's sequence follows its table.
    "pg_class": """relowner, relkind IN ('r', 'p', 'v', 'm', 'f', 'S') AND relpersistence <> 't'
        AND NOT EXISTS (SELECT FROM pg_depend WHERE relkind = 'S' AND classid = 'pg_class'::regclass
            AND objid = o.oid AND refclassid = 'pg_class'::regclass AND deptype IN ('a', 'i'))""",
    # Row types, array types and multiranges follow the object for which they were created.
    "pg_type": """typowner, typtype <> 'm'
        AND (typrelid = 0 OR EXISTS (SELECT FROM pg_class WHERE oid = typrelid AND relkind = 'c'))
        AND NOT EXISTS (SELECT FROM pg_type e WHERE e.typarray = o.oid)""",
    # Routines that only an administrator may create stay the administrator's: their code is not
    # SQL, or runs with every change of the database.
    "pg_proc": """proowner, prorettype <> 'event_trigger'::regtype
        AND (prokind = 'a' OR EXISTS (SELECT FROM pg_language WHERE oid = prolang
            AND lanpltrusted))""",
    "pg_namespace": "nspowner, nspname !~ '^pg_'",
    # Other publications must be owned by an administrator.
    "pg_publication": """pubowner, NOT puballtables AND NOT EXISTS (
        SELECT FROM pg_publication_namespace WHERE pnpubid = o.oid)""",
    "pg_operator": "oprowner, true",
    "pg_opclass": "opcowner, true",
    "pg_opfamily": "opfowner, true",
    "pg_collation": "collowner, true",
    "pg_conversion": "conowner, true",
    "pg_ts_dict": "dictowner, true",
    "pg_ts_config": "cfgowner, true",
    "pg_statistic_ext": "stxowner, true",
    "pg_foreign_server": "srvowner, true",
    "pg_largeobject_metadata": "lomowner, true",
}
"""The owner column of each catalogue, and a condition for the objects that have their own owner."""
_FIRST_OBJECT = 16_384
"""Smallest oid of an object that a user created; PostgreSQL's own objects have smaller ones."""


def hand_over(database: Database, owner: str) -> None:
    """Give `owner` the database and what the administrator owns in it. It is safe to repeat.

    `database` has the administrator's login. No code of the database itself runs: no name is
    resolved in its schemas, and no event trigger fires.
    """
    import psycopg2
    from psycopg2 import sql

    connection = psycopg2.connect(
        host=database.host,
        port=database.port,
        user=database.user,
        password=database.password.get_secret_value(),
        dbname=database.database,
        connect_timeout=3,
        # The database's owner may have set other defaults for it.
        options="-c search_path=pg_catalog -c standard_conforming_strings=on -c lock_timeout=60s"
        " -c default_transaction_read_only=off -c statement_timeout=0",
    )
    to = sql.Identifier(owner)
    try:
        with connection, connection.cursor() as cursor:
            # PostgreSQL 16 has no such setting.
            cursor.execute(
                "SELECT set_config(name, 'off', false) FROM pg_settings"
                " WHERE name = 'event_triggers'"
            )
            for kind, identity in _objects(cursor):
                change = sql.SQL("ALTER {} {} OWNER TO {}")
                cursor.execute(change.format(sql.SQL(kind), sql.SQL(identity), to))
            cursor.execute(
                "SELECT FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba"
                " WHERE d.datname = current_database() AND r.rolname <> %s",
                (owner,),
            )
            if cursor.rowcount:
                change = sql.SQL("ALTER DATABASE {} OWNER TO {}")
                cursor.execute(change.format(sql.Identifier(database.database), to))
    finally:
        connection.close()


def _objects(cursor: psycopg2.extensions.cursor) -> list[tuple[str, str]]:
    """Return kind and name, for ALTER, of the current user's objects that are in no extension."""
    parts = []
    for catalogue, owned in _OWNED.items():
        owner, _, condition = owned.partition(", ")
        parts.append(
            # A large object is identified by the catalogue of its content.
            f"SELECT '{catalogue.removesuffix('_metadata')}'::regclass AS classid, o.oid AS objid"
            f" FROM {catalogue} o"
            f" JOIN pg_roles r ON r.oid = o.{owner} AND r.rolname = current_user"
            f" WHERE o.oid >= {_FIRST_OBJECT} AND {condition}"
        )
    cursor.execute(
        "SELECT CASE WHEN classid = 'pg_proc'::regclass THEN 'routine'"
        " ELSE replace(i.type, 'statistics object', 'statistics') END,"
        " CASE WHEN classid = 'pg_proc'::regclass THEN objid::regprocedure::text"
        " ELSE i.identity END"
        f" FROM ({' UNION ALL '.join(parts)}) owned,"
        " LATERAL pg_identify_object(classid, objid, 0) i"
        " WHERE NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = owned.classid"
        " AND d.objid = owned.objid AND d.deptype = 'e')"
    )
    return cursor.fetchall()
