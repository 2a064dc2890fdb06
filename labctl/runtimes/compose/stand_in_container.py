"""Entry point that starts the stand-in for SQL Server inside a container.

It first creates the database; then the process becomes `labctl tools sqlserver serve`.
"""

from __future__ import annotations

import os
import sys

from psycopg2.extensions import parse_dsn
from pydantic import SecretStr

from labctl.config.endpoints import Database
from labctl.engines.postgres.postgres_client import ensure_database
from labctl.engines.sqlserver import sqlserver_service as sqlserver
from labctl.services.container import SECRETS

__all__ = ["main"]

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - of the container, published on the host's loopback


def main() -> None:
    """Replace this process by the server."""
    given = parse_dsn((SECRETS / "dsn").read_text(encoding="utf-8"))
    ensure_database(
        Database(
            host=given["host"],
            port=int(given["port"]),
            user=given["user"],
            password=SecretStr(given["password"]),
            database=given["dbname"],
        ),
        given["dbname"],
    )
    argv = sqlserver.serve_argv(
        dsn=SECRETS / "dsn",
        password=SECRETS / "sqlserver",
        certificate=SECRETS / "server.pem",
        host=ANY_ADDRESS,
        port=sqlserver.SERVICE.ports["tds"],
    )
    os.execv(sys.executable, argv)  # noqa: S606


if __name__ == "__main__":
    main()
