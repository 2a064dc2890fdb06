"""MySQL: a source."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from labctl.config.endpoints import database_of
from labctl.errors import LabError
from labctl.home.state import write_private
from labctl.services.data_folder import is_made, made_whole
from labctl.services.model import Container, Context, NativeService, Process, Recipe, Service
from labctl.sources import CDC_USER

if TYPE_CHECKING:
    import pymysql

__all__ = ["ADMIN", "CAPTURE_RIGHTS", "OPTIONS", "SERVICE"]

ADMIN = "labctl"
MARK = "mysql.ibd"
"""The data dictionary: in every data folder."""
CAPTURE_RIGHTS = "RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT, LOCK TABLES"
_CAPTURE = f"'{CDC_USER}'@'%%'"
"""Debezium's login, from wherever the server lets it in; in statements that have parameters."""

OPTIONS = (
    "--mysqlx=OFF",
    "--secure-file-priv=NULL",
    # What Debezium reads.
    "--server-id=1",
    "--log-bin=binlog",
    "--binlog-format=ROW",
    "--binlog-row-image=FULL",
    "--gtid-mode=ON",
    "--enforce-gtid-consistency=ON",
    "--character-set-server=utf8mb4",
    "--default-time-zone=+00:00",
    # It would size itself by the host's memory.
    "--innodb-buffer-pool-size=96M",
    "--performance-schema=OFF",
    "--table-open-cache=400",
    "--max-connections=60",
)
"""What holds in every runtime; addresses and folders differ."""


def _options(context: Context, data: Path) -> list[str]:
    options = [
        "--no-defaults",
        f"--datadir={data}",
        "--bind-address=127.0.0.1",
        f"--port={context.ports['sql']}",
        # Nobody is between it and its clients; and Java takes a second to decrypt 375,000 rows.
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
    write_private(statements, _initialise(context.passwords["mysql"]))
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
    """The statements that make a new data folder the lab's. `password` is the administrator's.

    `root`, who has none after --initialize-insecure, is gone before the server ever listens.
    """
    return (
        f"CREATE USER '{ADMIN}'@'%' IDENTIFIED BY '{password}';\n"
        f"GRANT ALL ON *.* TO '{ADMIN}'@'%' WITH GRANT OPTION;\n"
        "DROP USER 'root'@'localhost';\n"
    )


def _process(context: Context) -> Process:
    return Process(
        argv=(*context.artifacts.mysqld_command(), *_options(context, context.data)),
        stop_seconds=30,
    )


def _connect(context: Context) -> pymysql.connections.Connection[Any]:
    import pymysql

    endpoint = context.endpoints.mysql
    assert endpoint is not None  # noqa: S101 - this service's own endpoint
    return pymysql.connect(
        host=endpoint.host,
        port=endpoint.port,
        user=endpoint.user,
        password=endpoint.password.get_secret_value(),
        connect_timeout=3,
        read_timeout=10,
    )


def _probe(context: Context) -> str:
    with _connect(context) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT VERSION(), @@binlog_format, @@gtid_mode")
        version, *_ = cursor.fetchone() or ("?",)
    return f"MySQL {version}"


def _setup(context: Context) -> None:
    password = context.passwords["cdc"]
    with _connect(context) as connection, connection.cursor() as cursor:
        # A lab that an older labctl initialised, and never started, still has one without password.
        cursor.execute("DROP USER IF EXISTS 'root'@'localhost'")
        cursor.execute(f"CREATE USER IF NOT EXISTS {_CAPTURE} IDENTIFIED BY %s", (password,))
        cursor.execute(f"ALTER USER {_CAPTURE} IDENTIFIED BY %s", (password,))
        cursor.execute(f"GRANT {CAPTURE_RIGHTS} ON *.* TO '{CDC_USER}'@'%'")
        for source in context.config.sources_of("mysql").values():
            for schema in source.schemas:
                name = schema.replace("`", "``")
                cursor.execute(f"CREATE DATABASE IF NOT EXISTS `{name}` CHARACTER SET utf8mb4")


SERVICE = Service(
    name="mysql",
    title="MySQL",
    ports={"sql": 3306},
    native=NativeService(artifacts=("mysql",), memory_mib=300, prepare=_prepare, process=_process),
    probe=_probe,
    endpoint=lambda site: site.server("mysql", "sql", ADMIN, without=""),
    passwords=("mysql", "cdc"),
    container=Container(
        recipes=(Recipe("mysql", "local/mysql", "mysql", {"BASE": "base"}, artifacts=("mysql",)),)
    ),
    setup=_setup,
    needed=lambda config: bool(config.sources_of("mysql")),
    urls=lambda endpoints, ports: {
        "sql": f"mysql://{ADMIN}@127.0.0.1:{ports['sql']}/{database_of(endpoints.mysql)}"
    },
)
