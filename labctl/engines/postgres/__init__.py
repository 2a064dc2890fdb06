"""PostgreSQL in the lab, in Debezium and on RDS."""

# ruff: noqa: S608 - scripts for a person to read and run; names come from the project's own files

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from labctl.config.endpoints import Database
from labctl.engines.postgres.postgres_change_log import PostgresLog
from labctl.engines.postgres.postgres_client_files import client_variables
from labctl.engines.postgres.postgres_connector import CONNECTOR_TRAITS
from labctl.engines.postgres.postgres_limits import postgres_limits, postgres_reload_refused
from labctl.engines.postgres.postgres_login import login_settings
from labctl.engines.postgres.postgres_publication import (
    OPTIONS,
    OPTIONS_OF_18,
    postgres_instances,
    postgres_unrecorded,
)
from labctl.engines.postgres.postgres_replica_identity import identity_statement
from labctl.engines.postgres.postgres_row_security import policies_statement
from labctl.engines.postgres.postgres_slots import DEFAULT_SLOT, SLOTS
from labctl.engines.postgres.postgres_sql_files import SQL_FILES
from labctl.engines.postgres.postgres_uncompared import UNCOMPARED
from labctl.sources.base import Source, TableRef, quoted
from labctl.sources.engine import Engine, Preparation, Rds

if TYPE_CHECKING:
    from labctl.conformance.traits import Traits
    from labctl.promote.rules.rule import Rule
    from labctl.services.service import Service
    from labctl.sources.type_rules import TypeRule

__all__ = ["ENGINE", "SPARE_SENDERS"]

SPARE_SENDERS = 8
"""Replication slots and senders beyond the connectors': for replicas, a second lab, debugging."""


SIGNAL_COLUMNS = "id varchar(64) PRIMARY KEY, type varchar(32) NOT NULL, data text"


def _parameters(connectors: int) -> Mapping[str, str]:
    slots = str(connectors + SPARE_SENDERS)
    return {
        # A static parameter: a change needs a restart. RDS sets wal_level=logical with it.
        "rds.logical_replication": "1",
        "max_replication_slots": slots,
        "max_wal_senders": slots,
    }


def _preparation(source: Preparation) -> str:
    user = source.user
    database, publication = source.database, source.publication
    published = ", ".join(map(_named, source.published))
    identity = f"{identity_statement(source.tables)};\n" if source.tables else ""
    policies = f"{policies_statement(source.tables, user)};\n" if source.tables else ""
    rights = "".join(
        f"""\
GRANT USAGE ON SCHEMA {schema} TO {user};
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {user};
ALTER DEFAULT PRIVILEGES IN SCHEMA {schema} GRANT SELECT ON TABLES TO {user};
"""
        for schema in map(_quoted, source.schemas)
    )
    return f"""\
-- PostgreSQL on RDS, database {database}: the connector's login and its publication.
-- The tables must be there (`labctl --profile aws seed` makes a data set's), and the instance must
-- have been restarted with rds.logical_replication=1.
\\connect {_quoted(database)}
DO $$ BEGIN
    IF current_setting('wal_level') <> 'logical' THEN
        RAISE EXCEPTION 'wal_level is %: attach the parameter group and restart the instance',
            current_setting('wal_level');
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{user}') THEN
        CREATE ROLE {user} LOGIN;
    END IF;
END $$;
ALTER ROLE {user} PASSWORD :'cdc_password';
{login_settings(user)}\
GRANT rds_replication TO {user};
GRANT CONNECT ON DATABASE {_quoted(database)} TO {user};
{rights}{_signals(source)}\
DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_publication WHERE pubname = '{publication}') THEN
        CREATE PUBLICATION {publication};
    END IF;
    IF current_setting('server_version_num')::integer >= 180000 THEN
        ALTER PUBLICATION {publication} SET ({OPTIONS_OF_18});
    ELSE
        ALTER PUBLICATION {publication} SET ({OPTIONS});
    END IF;
END $$;
{identity}{policies}\
{f"ALTER PUBLICATION {publication} SET TABLE {published};" if published else ""}
"""


def _signals(source: Preparation) -> str:
    if source.signals is None:
        return ""
    schema, table = _quoted(source.signals.schema), _named(source.signals)
    return f"""\
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE IF NOT EXISTS {table} ({SIGNAL_COLUMNS});
GRANT USAGE ON SCHEMA {schema} TO {source.user};
GRANT SELECT, INSERT ON {table} TO {source.user};
"""


def _named(table: TableRef) -> str:
    return f"{_quoted(table.schema)}.{_quoted(table.name)}"


def _quoted(name: str) -> str:
    return quoted(name, ('"', '"'))


# Import the classes only when needed: Arrow and a driver take half a second to load.
def _client(database: Database) -> Source:
    from labctl.engines.postgres.postgres_client import PostgresSource

    return PostgresSource(database)


def _ensure_database(server: Database, database: str, owner: str) -> None:
    from labctl.engines.postgres.postgres_client import ensure_database

    ensure_database(server, database, owner)


def _types() -> Mapping[str, TypeRule]:
    from labctl.engines.postgres.postgres_types import POSTGRES

    return POSTGRES


def _service() -> Service:
    from labctl.engines.postgres.postgres_service import SERVICE

    return SERVICE


def _promote_rules() -> tuple[Rule, ...]:
    from labctl.engines.postgres.postgres_promote_rules import RULES

    return RULES


def _conformance() -> Traits:
    from labctl.engines.postgres.postgres_conformance import TRAITS

    return TRAITS


ENGINE = Engine(
    name="postgres",
    title="PostgreSQL",
    system_schemas=r"pg_.*|information_schema",
    scheme="postgresql",
    port=5432,
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
    change_log=lambda source, connector: PostgresLog(
        source, connector.get("slot.name", DEFAULT_SLOT)
    ),
    connector_class="io.debezium.connector.postgresql.PostgresConnector",
    connector=CONNECTOR_TRAITS,
    plugin="debezium-postgres",
    reference="postgres",
    preparation=_preparation,
    sql_client=r"psql -v ON_ERROR_STOP=1 -c '\getenv cdc_password CDC_PASSWORD' -f {file}",
    rds=Rds(
        majors=("13", "14", "15", "16", "17", "18"),
        major=lambda version: version.split(".")[0],
        parameters=_parameters,
    ),
    limits=postgres_limits,
    unrecorded=postgres_unrecorded,
    instances=postgres_instances,
    reload_refused=postgres_reload_refused,
    beside_sources="postgres",
    database_variable="PGDATABASE",
    default_schema="public",
    holds_state=True,
    slots=SLOTS,
    admin_client="labctl client psql --admin",
)
