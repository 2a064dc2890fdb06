"""MySQL as a source."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labctl.config.endpoints import client_url
from labctl.errors import LabError
from labctl.services.container import (
    ComposeService,
    Container,
    Health,
    Image,
    Recipe,
    mounted,
    written_file,
)
from labctl.services.data_folder import is_made, made_whole
from labctl.services.service import Context, NativeService, Process, Service, Stop
from labctl.sources import CDC_USER
from labctl.state.lab_state import write_private

if TYPE_CHECKING:
    import pymysql

__all__ = ["ADMIN", "CAPTURE_RIGHTS", "OPTIONS", "OWNER", "SERVICE"]

_PORT = 3306
ADMIN = "labctl_admin"
OWNER = "labctl"
"""The login that has all rights in the sources' databases, and no others. All code that runs a
project's SQL, or accesses a source's table, logs in with it."""
MARK = "mysql.ibd"
"""The data dictionary, a file in every data folder."""
CAPTURE_RIGHTS = "RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT, LOCK TABLES"

OPTIONS = (
    "--mysqlx=OFF",
    "--secure-file-priv=NULL",
    # Otherwise only an administrator may create a trigger or a function. It is safe, because the
    # log has rows, not statements.
    "--log-bin-trust-function-creators=ON",
    # Debezium needs these settings to read the binary log.
    "--server-id=1",
    "--log-bin=binlog",
    "--binlog-format=ROW",
    "--binlog-row-image=FULL",
    "--gtid-mode=ON",
    "--enforce-gtid-consistency=ON",
    "--character-set-server=utf8mb4",
    "--default-time-zone=+00:00",
    # By default MySQL uses sizes that depend on the host's memory.
    "--innodb-buffer-pool-size=96M",
    "--performance-schema=OFF",
    "--table-open-cache=400",
    "--max-connections=60",
)
"""Options that are the same in every runtime, without addresses and folders."""


def _options(context: Context, data: Path) -> list[str]:
    options = [
        "--no-defaults",
        f"--datadir={data}",
        "--bind-address=127.0.0.1",
        f"--port={context.ports['sql']}",
        # On loopback nobody is between it and its clients, and Java takes a second to decrypt
        # 375,000 rows.
        "--tls-version=",
        "--auto-generate-certs=OFF",
        # Relative to the data folder: an absolute path may be too long for a unix socket.
        "--socket=mysql.sock",
        "--pid-file=mysql.pid",
        *OPTIONS,
    ]
    if os.geteuid() == 0:
        options.append("--user=root")
    return options


def _prepare(context: Context) -> None:
    if is_made(context.data, MARK):
        return
    statements = context.conf / "initialise.sql"
    write_private(statements, _initialise(context.passwords["mysql-admin"]))
    try:
        with made_whole(context.data) as data:
            done = subprocess.run(
                [
                    *context.artifacts.mysqld_command(),
                    *_options(context, data),
                    "--initialize-insecure",
                    f"--init-file={statements}",
                    "--skip-log-bin",
                ],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                raise LabError(
                    "MySQL could not initialise its data folder",
                    details=tuple(done.stderr.strip().splitlines()[-8:]),
                )
    finally:
        statements.unlink()


def _initialise(password: str) -> str:
    """Return the statements that set up a new data folder. `password` is the administrator's.

    `root`, without a password after --initialize-insecure, is dropped before the server listens.
    """
    statements = (*_administrator(password), "DROP USER 'root'@'localhost'")
    return "".join(f"{statement};\n" for statement in statements)


def _administrator(password: str) -> tuple[str, ...]:
    """Return the statements that create the administrator."""
    # A password has letters, digits, - and _.
    return (
        f"CREATE USER '{ADMIN}'@'%' IDENTIFIED BY '{password}'",
        f"GRANT ALL ON *.* TO '{ADMIN}'@'%' WITH GRANT OPTION",
    )


def _process(context: Context) -> Process:
    return Process(
        argv=(*context.artifacts.mysqld_command(), *_options(context, context.data)),
    )


def _connect(context: Context) -> pymysql.connections.Connection[Any]:
    """Connect as the administrator."""
    import pymysql

    endpoint = context.endpoints.servers[SERVICE.name]
    return pymysql.connect(
        host=endpoint.host,
        port=endpoint.port,
        user=ADMIN,
        password=context.passwords["mysql-admin"],
        connect_timeout=3,
        read_timeout=10,
    )


def _probe(context: Context) -> str:
    with _connect(context) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION(), @@binlog_format, @@gtid_mode")
        version, *_ = cursor.fetchone() or ("?",)
    return f"MySQL {version}"


def _setup(context: Context) -> None:
    # Import here: it loads Arrow, which every command would otherwise load.
    from labctl.engines.mysql.mysql_client import allow, ensure_database
    from labctl.sources.signal_table import SIGNAL_SCHEMA

    server = context.endpoints.servers[SERVICE.name]
    with _connect(context) as connection, connection.cursor() as cursor:
        # The image's entrypoint has made a `root`, which nobody needs.
        cursor.execute("DROP USER IF EXISTS 'root'@'localhost'")
        for user, role in ((OWNER, "mysql"), (CDC_USER, "cdc")):
            login = (user, context.passwords[role])
            cursor.execute("CREATE USER IF NOT EXISTS %s@'%%' IDENTIFIED BY %s", login)
            cursor.execute("ALTER USER %s@'%%' IDENTIFIED BY %s", login)
        cursor.execute(f"GRANT {CAPTURE_RIGHTS} ON *.* TO '{CDC_USER}'@'%'")
        for source in context.config.sources_of("mysql").values():
            for schema in source.schemas:
                ensure_database(server, schema, OWNER)
                allow(cursor, "SELECT, LOCK TABLES", schema, CDC_USER)
        ensure_database(server, SIGNAL_SCHEMA, OWNER)
        allow(cursor, "SELECT, INSERT", SIGNAL_SCHEMA, CDC_USER)


_ADMINISTRATOR = "".join(
    f"{statement};\n" for statement in _administrator("$(cat /run/secrets/mysql-admin)")
)
# The local image's entrypoint takes one statement per line.
_SOURCED = f"""\
# Sourced once by the image's entrypoint, when the data folder is made; labctl's setup does the same
# on a server that it starts. One statement per line.
docker_process_sql <<SQL
{_ADMINISTRATOR}\
CREATE USER '{OWNER}'@'%' IDENTIFIED BY '$(cat /run/secrets/mysql)';
GRANT ALL ON $MYSQL_DATABASE.* TO '{OWNER}'@'%';
CREATE USER '{CDC_USER}'@'%' IDENTIFIED BY '$(cat /run/secrets/cdc)';
GRANT {CAPTURE_RIGHTS} ON *.* TO '{CDC_USER}'@'%';
SQL
"""
_CONTAINER = ComposeService(
    "mysql",
    Image("mysql", "mysql:8.4.8"),
    memory="480m",
    command=("mysqld", *OPTIONS),
    environment={
        "MYSQL_ROOT_PASSWORD_FILE": "/run/secrets/mysql-admin",
        "MYSQL_ROOT_HOST": "localhost",
        "MYSQL_DATABASE": "ecomm",
    },
    data="/var/lib/mysql",
    mounts=(mounted("./mysql/init.sh", "/docker-entrypoint-initdb.d/10-lab.sh"),),
    files={"mysql/init.sh": written_file(_SOURCED)},
    health=Health(("CMD", "bash", "/probes/mysql.sh", str(_PORT))),
)

SERVICE = Service(
    name="mysql",
    title="MySQL",
    ports={"sql": _PORT},
    native=NativeService(artifacts=("mysql",), memory_mib=300, prepare=_prepare, process=_process),
    probe=_probe,
    endpoint=lambda site: site.server("mysql", "sql", ADMIN, "mysql-admin", without=""),
    owner=lambda site: site.server("mysql", "sql", OWNER, "mysql", without=""),
    passwords=("mysql", "mysql-admin", "cdc"),
    stop=Stop(seconds=30),
    container=Container(
        _CONTAINER,
        recipes=(Recipe("mysql", "local/mysql", "mysql", {"BASE": "base"}, artifacts=("mysql",)),),
    ),
    setup=_setup,
    enabled=lambda config: bool(config.sources_of("mysql")),
    urls=lambda endpoints, ports: {
        "sql": client_url("mysql", endpoints.client_of("mysql"), ports["sql"])
    },
)
