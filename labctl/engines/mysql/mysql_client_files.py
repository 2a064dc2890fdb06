"""Settings with which MySQL's own clients log in."""

from __future__ import annotations

from pathlib import Path

from labctl.config.endpoints import Database
from labctl.state.lab_state import write_private

__all__ = ["MYSQL_OPTIONS", "client_variables", "write_mysql_options"]

MYSQL_OPTIONS = "my.cnf"
"""Name of the file from which `mysql` reads its options."""


def client_variables(login: Database, folder: Path) -> dict[str, str]:
    """Return the variables for MySQL's clients; write their options into a file of `folder`."""
    write_mysql_options(login, folder / MYSQL_OPTIONS)
    return {"MYSQL_HOME": str(folder)}


def write_mysql_options(login: Database, file: Path) -> None:
    """Write the file that points MySQL's clients at a database, as the user of `login`."""
    options = {
        "host": login.host,
        "port": str(login.port),
        "user": login.user,
        "password": login.password.get_secret_value().replace("\\", "\\\\"),
        "database": login.database,
    }
    # `mysql` reads my.cnf from MYSQL_HOME. Without encryption, the server's public key keeps the
    # password off the network. `loose`: clients of other vendors do not know this option.
    lines = "".join(f'{key}="{value}"\n' for key, value in options.items())
    write_private(file, f"[client]\n{lines}loose-get-server-public-key\n")
