"""MySQL in the lab, in Debezium and on RDS."""

# ruff: noqa: S608 - scripts for a person to read and run; names come from the project's own files

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from labctl.config.endpoints import Database
from labctl.engines.mysql.mysql_change_log import MySqlLog
from labctl.engines.mysql.mysql_charsets import mysql_misread
from labctl.engines.mysql.mysql_client_files import client_variables
from labctl.engines.mysql.mysql_connector import CONNECTOR_TRAITS
from labctl.engines.mysql.mysql_limits import ACTING, mysql_limits, mysql_unrecorded
from labctl.engines.mysql.mysql_sql_files import SQL_FILES
from labctl.engines.mysql.mysql_uncompared import UNCOMPARED
from labctl.sources.base import Source, quoted
from labctl.sources.engine import Engine, Preparation, Rds

if TYPE_CHECKING:
    from labctl.conformance.traits import Traits
    from labctl.promote.rules.rule import Rule
    from labctl.services.service import Service
    from labctl.sources.type_rules import TypeRule

__all__ = ["BINLOG_HOURS", "ENGINE"]

BINLOG_HOURS = 72
"""Hours a connector may be stopped before it must load its MySQL source again."""


SIGNAL_COLUMNS = "id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text"


def _preparation(source: Preparation) -> str:
    user = source.user
    rights = "".join(
        f"GRANT SELECT, LOCK TABLES ON {quoted(schema, ('`', '`'))}.* TO '{user}'@'%';\n"
        for schema in source.schemas
    )
    if source.signals is not None:
        schema, name = (
            quoted(part, ("`", "`")) for part in (source.signals.schema, source.signals.name)
        )
        rights += (
            f"CREATE DATABASE IF NOT EXISTS {schema};\n"
            f"CREATE TABLE IF NOT EXISTS {schema}.{name} ({SIGNAL_COLUMNS});\n"
            f"GRANT SELECT, INSERT ON {schema}.{name} TO '{user}'@'%';\n"
        )
    return f"""\
-- MySQL on RDS: how long the binary log is kept, and the connector's login.
-- RDS keeps no binary log without automated backups, and removes it at once by default.
CALL mysql.rds_set_configuration('binlog retention hours', {BINLOG_HOURS});
CREATE USER IF NOT EXISTS '{user}'@'%';
SET @statement = CONCAT('ALTER USER ''{user}''@''%'' IDENTIFIED BY ', QUOTE(@cdc_password));
PREPARE statement FROM @statement;
EXECUTE statement;
DEALLOCATE PREPARE statement;
SET @statement = NULL;
GRANT RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{user}'@'%';
{rights}\
-- What these foreign keys do to rows is not in the log of a server before 9.6: such rows stay in
-- silver as they were.
SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, DELETE_RULE, UPDATE_RULE
FROM information_schema.REFERENTIAL_CONSTRAINTS
WHERE CONSTRAINT_SCHEMA IN ({", ".join(quoted(one, ("'", "'")) for one in source.schemas)})
AND {ACTING};
"""


# Import the classes only when needed: Arrow and a driver take half a second to load.
def _client(database: Database) -> Source:
    from labctl.engines.mysql.mysql_client import MySqlSource

    return MySqlSource(database)


def _ensure_database(server: Database, database: str, owner: str) -> None:
    from labctl.engines.mysql.mysql_client import ensure_database

    ensure_database(server, database, owner)


def _types() -> Mapping[str, TypeRule]:
    from labctl.engines.mysql.mysql_types import MYSQL

    return MYSQL


def _service() -> Service:
    from labctl.engines.mysql.mysql_service import SERVICE

    return SERVICE


def _promote_rules() -> tuple[Rule, ...]:
    from labctl.engines.mysql.mysql_promote_rules import RULES

    return RULES


def _conformance() -> Traits:
    from labctl.engines.mysql.mysql_conformance import TRAITS

    return TRAITS


ENGINE = Engine(
    name="mysql",
    title="MySQL",
    system_schemas=r"information_schema|mysql|performance_schema|sys",
    scheme="mysql",
    port=3306,
    client=_client,
    ensure_database=_ensure_database,
    types=_types,
    signal_columns=SIGNAL_COLUMNS,
    uncompared=UNCOMPARED,
    sql_files=SQL_FILES,
    service=_service,
    client_variables=client_variables,
    promote_rules=_promote_rules,
    conformance=_conformance,
    change_log=lambda source, _: MySqlLog(source),
    connector_class="io.debezium.connector.mysql.MySqlConnector",
    connector=CONNECTOR_TRAITS,
    plugin="debezium-mysql",
    reference="mysql",
    preparation=_preparation,
    sql_client=(
        """{{ printf "SET @cdc_password='%s';\\n" "$CDC_PASSWORD"; cat {file}; }} | mysql"""
    ),
    rds=Rds(
        majors=("8.0", "8.4"),
        major=lambda version: ".".join(version.split(".")[:2]),
        parameters=lambda _: {
            "binlog_format": "ROW",
            "binlog_row_image": "FULL",
            "gtid-mode": "ON",
            "enforce_gtid_consistency": "ON",
        },
    ),
    limits=mysql_limits,
    unrecorded=mysql_unrecorded,
    misread=mysql_misread,
    beside_sources="",
    schemas_are_databases=True,
    admin_client="labctl client mysql --admin",
    databases=lambda source: source.schemas,
)
