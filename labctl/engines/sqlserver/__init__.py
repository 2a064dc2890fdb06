"""SQL Server in the lab, in Debezium and on RDS."""

# ruff: noqa: S608 - scripts for a person to read and run; names come from the project's own files

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from labctl.config.endpoints import Database
from labctl.engines.sqlserver.sqlserver_capture_instance import (
    capture_instance,
    sqlserver_instances,
    sqlserver_unrecorded,
)
from labctl.engines.sqlserver.sqlserver_change_log import SqlServerLog
from labctl.engines.sqlserver.sqlserver_client_files import client_variables
from labctl.engines.sqlserver.sqlserver_connector import CONNECTOR_TRAITS
from labctl.engines.sqlserver.sqlserver_limits import sqlserver_limits
from labctl.engines.sqlserver.sqlserver_sql_files import SQL_FILES, text_literal
from labctl.engines.sqlserver.sqlserver_uncompared import UNCOMPARED
from labctl.sources.base import Source, TableRef, quoted
from labctl.sources.engine import Engine, Preparation, Rds

if TYPE_CHECKING:
    from labctl.conformance.traits import Traits
    from labctl.promote.rules.rule import Rule
    from labctl.services.service import Service
    from labctl.sources.type_rules import TypeRule

__all__ = ["ADMIN", "ENGINE"]

ADMIN = "sa"
"""The only login of the lab's server, both of the stand-in and of SQL Server's own image."""


SIGNAL_COLUMNS = "id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data nvarchar(2048)"


def _preparation(source: Preparation) -> str:
    user = source.user
    database = source.database
    enable = "".join(
        f"""\
IF NOT EXISTS (SELECT 1 FROM sys.tables
        WHERE object_id = OBJECT_ID({text_literal(_named(table))})
            AND is_tracked_by_cdc = 1)
    EXEC sys.sp_cdc_enable_table @source_schema = {text_literal(table.schema)},
        @source_name = {text_literal(table.name)},
        @capture_instance = {_instance(table)},
        @role_name = N'cdc_reader', @supports_net_changes = 0;
GO
"""
        for table in (*source.tables, *filter(None, [source.signals]))
    )
    rights = "".join(
        f"IF SCHEMA_ID({text_literal(schema)}) IS NOT NULL"
        f" GRANT SELECT ON SCHEMA::{_quoted(schema)} TO {user};\n"
        for schema in source.schemas
    )
    failover = (
        "-- Multi-AZ: the capture job must find its way again after a failover.\n"
        "EXEC rdsadmin.dbo.rds_set_configuration 'cdc_capture_maxtrans', 1000;\nGO\n"
        if source.multi_az
        else ""
    )
    return f"""\
-- SQL Server on RDS, database {database}: change data capture, and the connector's login.
-- RDS switches CDC on by a procedure of its own; a restored instance has it off again.
IF DB_ID({text_literal(database)}) IS NULL CREATE DATABASE {_quoted(database)};
GO
IF NOT EXISTS (SELECT 1 FROM sys.databases
        WHERE name = {text_literal(database)} AND is_cdc_enabled = 1)
    EXEC msdb.dbo.rds_cdc_enable_db {text_literal(database)};
GO
{failover}\
USE {_quoted(database)};
GO
{_signals(source)}{enable}\
IF SUSER_ID(N'{user}') IS NULL
    CREATE LOGIN {user} WITH PASSWORD = N'$(CDC_PASSWORD)';
ELSE
    ALTER LOGIN {user} WITH PASSWORD = N'$(CDC_PASSWORD)';
GO
IF USER_ID(N'{user}') IS NULL CREATE USER {user} FOR LOGIN {user};
GO
{rights}\
{_signal_rights(source)}\
GRANT SELECT ON SCHEMA::cdc TO {user};
GRANT VIEW DATABASE STATE TO {user};
IF DATABASE_PRINCIPAL_ID(N'cdc_reader') IS NULL CREATE ROLE cdc_reader;
ALTER ROLE cdc_reader ADD MEMBER {user};
GO
"""


def _instance(table: TableRef) -> str:
    """Return the name of a table's capture instance as a literal: the default where it is short."""
    return text_literal(capture_instance(table) or f"{table.schema}_{table.name}")


def _signals(source: Preparation) -> str:
    if source.signals is None:
        return ""
    schema, table = source.signals.schema, _named(source.signals)
    creation = f"CREATE SCHEMA {_quoted(schema)}"
    return f"""\
IF SCHEMA_ID({text_literal(schema)}) IS NULL EXEC({text_literal(creation)});
GO
IF OBJECT_ID({text_literal(table)}) IS NULL
    CREATE TABLE {table} ({SIGNAL_COLUMNS});
GO
"""


def _signal_rights(source: Preparation) -> str:
    if source.signals is None:
        return ""
    return f"GRANT SELECT, INSERT ON {_named(source.signals)} TO {source.user};\n"


def _named(table: TableRef) -> str:
    return f"{_quoted(table.schema)}.{_quoted(table.name)}"


def _quoted(name: str) -> str:
    return quoted(name, ("[", "]"))


# Import the classes only when needed: Arrow and a driver take half a second to load.
def _client(database: Database) -> Source:
    from labctl.engines.sqlserver.sqlserver_client import SqlServerSource

    return SqlServerSource(database)


def _ensure_database(server: Database, database: str, owner: str) -> None:
    from labctl.engines.sqlserver.sqlserver_client import ensure_database

    ensure_database(server, database)


def _types() -> Mapping[str, TypeRule]:
    from labctl.engines.sqlserver.sqlserver_types import SQLSERVER

    return SQLSERVER


def _service() -> Service:
    from labctl.engines.sqlserver.sqlserver_service import SERVICE

    return SERVICE


def _promote_rules() -> tuple[Rule, ...]:
    from labctl.engines.sqlserver.sqlserver_promote_rules import RULES

    return RULES


def _conformance() -> Traits:
    from labctl.engines.sqlserver.sqlserver_conformance import TRAITS

    return TRAITS


ENGINE = Engine(
    name="sqlserver",
    title="SQL Server",
    system_schemas=r"cdc|db_.*|guest|information_schema|sys",
    scheme="mssql",
    port=1433,
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
    change_log=lambda source, _: SqlServerLog(source),
    connector_class="io.debezium.connector.sqlserver.SqlServerConnector",
    connector=CONNECTOR_TRAITS,
    plugin="debezium-sqlserver",
    reference="mssql",
    preparation=_preparation,
    # sqlcmd reads $(CDC_PASSWORD) from the environment by itself.
    sql_client="sqlcmd -b -i {file}",
    rds=Rds(
        # Change data capture on SQL Server 2025 is not documented.
        majors=("13.0", "14.0", "15.0", "16.0"),
        major=lambda version: f"{version.split('.')[0]}.0",
        licensed=True,
    ),
    limits=sqlserver_limits,
    unrecorded=sqlserver_unrecorded,
    instances=sqlserver_instances,
    database_in_topic=True,
    database_variable="SQLCMDDBNAME",
    default_schema="dbo",
    capture_user=ADMIN,
    capture_role="sqlserver",
)
