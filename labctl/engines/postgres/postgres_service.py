"""PostgreSQL, which holds sources and the durable state of other services."""

from __future__ import annotations

import os
import pwd
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from labctl.config.endpoints import Database, client_url
from labctl.config.lab_config import LabConfig
from labctl.engines.postgres.postgres_login import login_settings
from labctl.engines.postgres.postgres_rights import repeated
from labctl.errors import ExitCode, LabError
from labctl.services.container import (
    ComposeService,
    Container,
    Files,
    Health,
    Image,
    Recipe,
    mounted,
    written_file,
)
from labctl.services.data_folder import is_made, made_whole
from labctl.services.handing_over import hand_over
from labctl.services.service import Context, NativeService, Process, Service, Stop
from labctl.sources import CDC_USER
from labctl.state.lab_secrets import properties_text
from labctl.state.lab_state import write_private

if TYPE_CHECKING:
    import psycopg2

__all__ = [
    "ADMIN",
    "OWNER",
    "OWNER_RIGHTS",
    "SERVICE",
    "SETTINGS",
    "STAND_IN_DATABASE",
    "keep_apart",
    "own_databases",
    "unprivileged_prefix",
    "unprivileged_user",
]

ADMIN = "labctl"
"""The role that `initdb` creates. PostgreSQL does not allow its rights to be revoked."""
OWNER = "labctl_owner"
"""The role that owns the sources' databases and everything in them, and has no other rights. All
code that runs a project's SQL, or accesses a source's table, logs in with it."""
STAND_IN_DATABASE = "sqlserver"
"""Database in which SQL Server's stand-in keeps all its data; it creates the contents itself."""
PASSWORDS = ("postgres", "postgres-owner", "cdc")
OWNER_RIGHTS = "NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS"
CDC_RIGHTS, OTHERS_RIGHTS = "REPLICATION BYPASSRLS", "NOREPLICATION"
"""The connector bypasses row level security, which would hide rows from its loads."""
UNPRIVILEGED_USERS = ("postgres", "nobody")

SETTINGS = {
    "wal_level": "logical",
    "max_wal_senders": "10",
    "max_replication_slots": "10",
    # The SQL Server stand-in uses one connection for each of its clients.
    "max_connections": "300",
    "shared_buffers": "64MB",
    "wal_sender_timeout": "30s",
    # The size of the log kept for a connector that does not read. Beyond it, PostgreSQL invalidates
    # the slot, and the connector must load its tables again; `labctl doctor` warns before that.
    "max_slot_wal_keep_size": "4GB",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Checkpoints of a bulk load should not compete with it on a laptop's disk.
    "max_wal_size": "1GB",
    "checkpoint_timeout": "15min",
}
"""Settings that are the same in every runtime, without addresses."""
_CLUSTER = ("--encoding=UTF8", "--locale=C.UTF-8")
"""Options with which `initdb` creates the data folder."""


def _prepare(context: Context) -> None:
    user = unprivileged_user()
    if is_made(context.data, "PG_VERSION"):
        return
    password_file = context.conf / "initdb-password"
    write_private(password_file, context.passwords["postgres"])
    if user is not None:
        os.chown(password_file, user.pw_uid, user.pw_gid)
    try:
        with made_whole(context.data) as data:
            if user is not None:
                os.chown(data, user.pw_uid, user.pw_gid)
            done = subprocess.run(
                [
                    *unprivileged_prefix(),
                    str(context.artifacts.postgres_bin() / "initdb"),
                    f"--pgdata={data}",
                    f"--username={ADMIN}",
                    f"--pwfile={password_file}",
                    "--auth=scram-sha-256",
                    *_CLUSTER,
                    # `made_whole` syncs the files and folders.
                    "--no-sync",
                ],
                capture_output=True,
                text=True,
                check=False,
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            )
            if done.returncode != 0:
                raise LabError(
                    "PostgreSQL's initdb failed",
                    details=tuple(done.stderr.strip().splitlines()[-8:]),
                )
    finally:
        password_file.unlink()


def _process(context: Context) -> Process:
    local = {"listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
    return Process(
        argv=(
            *unprivileged_prefix(),
            str(context.artifacts.postgres_bin() / "postgres"),
            "-D",
            str(context.data),
            "-p",
            str(context.ports["sql"]),
            *_options({**local, **SETTINGS}),
        ),
    )


def _options(settings: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"--{name}={value}" for name, value in settings.items())


def _endpoint(context: Context, database: str) -> Database:
    endpoint = context.endpoints.servers[SERVICE.name]
    return endpoint.model_copy(update={"database": database})


def _connect(context: Context) -> psycopg2.extensions.connection:
    import psycopg2

    endpoint = _endpoint(context, "postgres")
    return psycopg2.connect(
        host=endpoint.host,
        port=endpoint.port,
        user=endpoint.user,
        password=endpoint.password.get_secret_value(),
        dbname=endpoint.database,
        connect_timeout=3,
    )


def _probe(context: Context) -> str:
    connection = _connect(context)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version")
            row = cursor.fetchone()
    finally:
        connection.close()
    return f"PostgreSQL {row[0] if row else '?'}"


def _setup(context: Context) -> None:
    # Import here: `labctl.services` imports this module.
    from psycopg2 import sql

    from labctl.services.lab_services import services_of

    connection = _connect(context)
    connection.autocommit = True
    try:
        with connection.cursor() as cursor:
            own = own_databases(services_of(context.config))
            for role, password, rights in (
                (OWNER, context.passwords["postgres-owner"], OWNER_RIGHTS),
                (CDC_USER, context.passwords["cdc"], CDC_RIGHTS),
                *((name, context.passwords[name], OTHERS_RIGHTS) for name in own),
            ):
                cursor.execute("SELECT FROM pg_roles WHERE rolname = %s", (role,))
                verb = "CREATE" if cursor.fetchone() is None else "ALTER"
                change = sql.SQL(f"{verb} ROLE {{}} LOGIN {rights} PASSWORD %s").format(
                    sql.Identifier(role)
                )
                repeated(partial(cursor.execute, change, (password,)))
            repeated(partial(cursor.execute, login_settings(CDC_USER)))
            # Import here: it loads Arrow, which every command would otherwise load.
            from labctl.engines.postgres.postgres_client import ensure_database

            server = _endpoint(context, "postgres")
            sources = _databases(context.config)
            for database in sources:
                ensure_database(server, database, OWNER)
                hand_over(_endpoint(context, database), OWNER)
            for name in own:
                ensure_database(server, name, name)
            repeated(partial(keep_apart, cursor, sources, own))
    finally:
        connection.close()


def _databases(config: LabConfig) -> list[str]:
    """Return the databases of the lab's sources."""
    sources = config.sources_of("postgres").values()
    return list(dict.fromkeys(source.database for source in sources if source.database))


def own_databases(services: Iterable[Service]) -> list[str]:
    """Return the own databases of `services`; each is owned by the role of the same name."""
    return [service.name for service in services if service.own_database]


def _secrets(passwords: Mapping[str, str]) -> Files:
    # Import here: `labctl.services` imports this module.
    from labctl.services.lab_services import SERVICES

    own = {name: passwords[name] for name in own_databases(SERVICES)}
    return {**{role: passwords[role] for role in PASSWORDS}, "databases": properties_text(own)}


def keep_apart(
    cursor: psycopg2.extensions.cursor, sources: Sequence[str], own: Sequence[str]
) -> None:
    """Allow each role to connect only to its own databases: one of them runs any T-SQL it is sent.

    `own` lists the databases of other services.
    """
    from psycopg2 import sql

    for database in ("postgres", "template1", *own, *sources):
        cursor.execute(
            sql.SQL("REVOKE CONNECT, TEMPORARY ON DATABASE {} FROM PUBLIC").format(
                sql.Identifier(database)
            )
        )
    for database in sources:
        cursor.execute(
            sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(
                sql.Identifier(database), sql.Identifier(CDC_USER)
            )
        )


def unprivileged_user() -> pwd.struct_passwd | None:
    """Return the user to run PostgreSQL as if this user is root, which it refuses; else None."""
    if os.geteuid() != 0:
        return None
    for name in UNPRIVILEGED_USERS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise LabError(
        f"PostgreSQL refuses to run as root, and this machine has no user "
        f"{' or '.join(UNPRIVILEGED_USERS)} to run it as",
        hint="run labctl as an ordinary user",
        exit_code=ExitCode.ENVIRONMENT,
    )


def unprivileged_prefix() -> tuple[str, ...]:
    """Return the command prefix that runs a PostgreSQL program as another user if this is root.

    The only capability kept gives it access to programs and data below root's private folders.
    """
    user = unprivileged_user()
    if user is None:
        return ()
    return (
        "setpriv",
        f"--reuid={user.pw_uid}",
        f"--regid={user.pw_gid}",
        "--clear-groups",
        # Without this bit, access(2), which initdb calls, ignores capabilities.
        "--securebits=+no_setuid_fixup",
        "--inh-caps=-all,+dac_override",
        "--ambient-caps=-all,+dac_override",
        "--bounding-set=-all,+dac_override",
        "--",
    )


# Passwords come from files, never from the command line.
_INITIALISE = f"""\
# Run once, when the data folder is made; labctl's setup does the same on a server that it starts.
psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres <<SQL
CREATE ROLE {OWNER} LOGIN {OWNER_RIGHTS} PASSWORD '$(cat /run/secrets/postgres-owner)';
ALTER DATABASE $POSTGRES_DB OWNER TO {OWNER};
CREATE ROLE {CDC_USER} LOGIN {CDC_RIGHTS} PASSWORD '$(cat /run/secrets/cdc)';
{login_settings(CDC_USER)}\
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1, $POSTGRES_DB FROM PUBLIC;
GRANT CONNECT ON DATABASE $POSTGRES_DB TO {CDC_USER};
SQL
# Databases of other services, and the passwords of the roles of the same names.
while IFS='=' read -r name password; do
  psql --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname=postgres <<SQL
CREATE ROLE $name LOGIN {OTHERS_RIGHTS} PASSWORD '$password';
CREATE DATABASE $name OWNER $name;
REVOKE CONNECT, TEMPORARY ON DATABASE $name FROM PUBLIC;
SQL
done </run/secrets/databases
"""
_CONTAINER = ComposeService(
    "postgres",
    Image("postgres", "postgres:18.6"),
    memory="448m",
    comments={
        "stop_signal": "PostgreSQL's fast shutdown; SIGTERM would wait for every client to leave.",
        "healthcheck": "Over TCP, with the password: while it initialises itself, it listens on its"
        " socket only.",
    },
    command=("postgres", *_options({"listen_addresses": "*", **SETTINGS})),
    environment={
        "POSTGRES_USER": ADMIN,
        "POSTGRES_PASSWORD_FILE": "/run/secrets/postgres",
        "POSTGRES_DB": "tickit",
        # On its socket the image's own scripts log in without a password.
        "POSTGRES_INITDB_ARGS": " ".join(("--auth-host=scram-sha-256", *_CLUSTER)),
    },
    data="/var/lib/postgresql",
    mounts=(mounted("./postgres/init.sh", "/docker-entrypoint-initdb.d/10-lab.sh"),),
    files={"postgres/init.sh": written_file(_INITIALISE)},
    health=Health(
        (
            "CMD-SHELL",
            "PGPASSWORD=$$(cat /run/secrets/postgres)"
            f" psql -qtA -h 127.0.0.1 -U {ADMIN} -d registry -c 'SELECT 1'",
        )
    ),
    shared_memory="128m",
)

SERVICE = Service(
    name="postgres",
    title="PostgreSQL",
    ports={"sql": 5432},
    native=NativeService(
        artifacts=("postgres",),
        memory_mib=150,
        prepare=_prepare,
        process=_process,
        refuses_root=True,
    ),
    probe=_probe,
    endpoint=lambda site: site.server("postgres", "sql", ADMIN, "postgres", without="postgres"),
    owner=lambda site: site.server("postgres", "sql", OWNER, "postgres-owner", without="postgres"),
    passwords=PASSWORDS,
    # PostgreSQL's fast shutdown; SIGTERM would wait for every client to disconnect.
    stop=Stop("INT"),
    container=Container(
        _CONTAINER,
        recipes=(
            Recipe(
                "postgres", "local/postgres", "postgres", {"BASE": "base"}, artifacts=("postgres",)
            ),
        ),
        secrets=lambda _, passwords: {"postgres": _secrets(passwords)},
    ),
    setup=_setup,
    urls=lambda endpoints, ports: {
        "sql": client_url("postgresql", endpoints.client_of("postgres"), ports["sql"])
    },
)
