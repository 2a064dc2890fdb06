"""The SQL each source database needs before its connector starts; run by its administrator.

Passwords are never in it: each client puts the value in from an environment variable.
"""

# ruff: noqa: S608 - scripts for a person to read and run; names come from the project's own files

from __future__ import annotations

from labctl.kafkaconnect.files import DEFAULT_PUBLICATION
from labctl.promote.promotion import Promotion
from labctl.promote.secrets import CDC_USER
from labctl.tables import LabTable

__all__ = ["BINLOG_HOURS", "client_command", "source_sql"]

BINLOG_HOURS = 72
"""How long a connector may be away before a MySQL source must be read again."""


def source_sql(promotion: Promotion, source: str) -> str:
    """The script for one source; safe to run again."""
    settings = promotion.config.sources[source]
    database, tables = promotion.database_of(source), promotion.tables_of(source)
    if settings.engine == "postgres":
        publication = _publication(promotion, source)
        return _postgres(database, settings.schemas, tables, publication)
    if settings.engine == "mysql":
        return _mysql(settings.schemas)
    multi_az = promotion.captured[source].multi_az
    return _sqlserver(database, settings.schemas, tables, multi_az=multi_az)


def _publication(promotion: Promotion, source: str) -> str:
    """As the connector's file names it."""
    file = next(c.file for c in promotion.connectors if c.source == source)
    return file.config.get("publication.name", DEFAULT_PUBLICATION)


def client_command(engine: str, file: str) -> str:
    """How the script is run. The environment's `CDC_PASSWORD` is the connector's password.

    On a command line everybody on the machine could read it.
    """
    return {
        "postgres": rf"psql -v ON_ERROR_STOP=1 -c '\getenv cdc_password CDC_PASSWORD' -f {file}",
        "mysql": (
            f"""{{ printf "SET @cdc_password='%s';\\n" "$CDC_PASSWORD"; cat {file}; }} | mysql"""
        ),
        # It takes $(CDC_PASSWORD) from the environment by itself.
        "sqlserver": f"sqlcmd -b -i {file}",
    }[engine]


def _postgres(
    database: str, schemas: tuple[str, ...], tables: tuple[LabTable, ...], publication: str
) -> str:
    named = [f'"{table.db_schema}"."{table.source_name}"' for table in tables]
    names = ", ".join(named)
    identity = "".join(f"ALTER TABLE {name} REPLICA IDENTITY FULL;\n" for name in named)
    rights = "".join(
        f"""\
GRANT USAGE ON SCHEMA "{schema}" TO {CDC_USER};
GRANT SELECT ON ALL TABLES IN SCHEMA "{schema}" TO {CDC_USER};
ALTER DEFAULT PRIVILEGES IN SCHEMA "{schema}" GRANT SELECT ON TABLES TO {CDC_USER};
"""
        for schema in schemas
    )
    return f"""\
-- PostgreSQL on RDS, database {database}: the connector's login and its publication.
-- The tables must be there (`labctl --profile aws seed` makes TICKIT's), and the instance must have
-- been restarted with rds.logical_replication=1.
DO $$ BEGIN
    IF current_setting('wal_level') <> 'logical' THEN
        RAISE EXCEPTION 'wal_level is %: attach the parameter group and restart the instance',
            current_setting('wal_level');
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{CDC_USER}') THEN
        CREATE ROLE {CDC_USER} LOGIN;
    END IF;
END $$;
ALTER ROLE {CDC_USER} PASSWORD :'cdc_password';
GRANT rds_replication TO {CDC_USER};
GRANT CONNECT ON DATABASE "{database}" TO {CDC_USER};
{rights}{identity}\
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = '{publication}') THEN
        CREATE PUBLICATION {publication};
    END IF;
END $$;
{f"ALTER PUBLICATION {publication} SET TABLE {names};" if tables else ""}
"""


def _mysql(schemas: tuple[str, ...]) -> str:
    rights = "".join(
        f"GRANT SELECT, LOCK TABLES ON `{schema}`.* TO '{CDC_USER}'@'%';\n" for schema in schemas
    )
    return f"""\
-- MySQL on RDS: how long the binary log is kept, and the connector's login.
-- RDS keeps no binary log without automated backups, and removes it at once by default.
CALL mysql.rds_set_configuration('binlog retention hours', {BINLOG_HOURS});
CREATE USER IF NOT EXISTS '{CDC_USER}'@'%';
SET @statement = CONCAT('ALTER USER ''{CDC_USER}''@''%'' IDENTIFIED BY ', QUOTE(@cdc_password));
PREPARE statement FROM @statement;
EXECUTE statement;
DEALLOCATE PREPARE statement;
SET @statement = NULL;
GRANT RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO '{CDC_USER}'@'%';
{rights}"""


def _sqlserver(
    database: str, schemas: tuple[str, ...], tables: tuple[LabTable, ...], *, multi_az: bool
) -> str:
    enable = "".join(
        f"""\
IF NOT EXISTS (SELECT 1 FROM sys.tables
        WHERE object_id = OBJECT_ID(N'[{table.db_schema}].[{table.source_name}]')
            AND is_tracked_by_cdc = 1)
    EXEC sys.sp_cdc_enable_table @source_schema = N'{table.db_schema}',
        @source_name = N'{table.source_name}',
        @role_name = N'cdc_reader', @supports_net_changes = 0;
GO
"""
        for table in tables
    )
    rights = "".join(
        f"IF SCHEMA_ID(N'{schema}') IS NOT NULL GRANT SELECT ON SCHEMA::[{schema}] TO {CDC_USER};\n"
        for schema in schemas
    )
    failover = (
        "-- Multi-AZ: the capture job must find its way again after a failover.\n"
        "EXEC rdsadmin.dbo.rds_set_configuration 'cdc_capture_maxtrans', 1000;\nGO\n"
        if multi_az
        else ""
    )
    return f"""\
-- SQL Server on RDS, database {database}: change data capture, and the connector's login.
-- RDS switches CDC on by a procedure of its own; a restored instance has it off again.
IF DB_ID(N'{database}') IS NULL CREATE DATABASE [{database}];
GO
IF NOT EXISTS (SELECT 1 FROM sys.databases
        WHERE name = N'{database}' AND is_cdc_enabled = 1)
    EXEC msdb.dbo.rds_cdc_enable_db N'{database}';
GO
{failover}\
USE [{database}];
GO
{enable}\
IF SUSER_ID(N'{CDC_USER}') IS NULL
    CREATE LOGIN {CDC_USER} WITH PASSWORD = N'$(CDC_PASSWORD)';
ELSE
    ALTER LOGIN {CDC_USER} WITH PASSWORD = N'$(CDC_PASSWORD)';
GO
IF USER_ID(N'{CDC_USER}') IS NULL CREATE USER {CDC_USER} FOR LOGIN {CDC_USER};
GO
{rights}\
GRANT SELECT ON SCHEMA::cdc TO {CDC_USER};
GRANT VIEW DATABASE STATE TO {CDC_USER};
IF DATABASE_PRINCIPAL_ID(N'cdc_reader') IS NULL CREATE ROLE cdc_reader;
ALTER ROLE cdc_reader ADD MEMBER {CDC_USER};
GO
"""
