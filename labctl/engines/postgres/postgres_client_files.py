"""Settings with which PostgreSQL's own clients log in."""

from __future__ import annotations

import re
from pathlib import Path

from labctl.config.endpoints import Database
from labctl.state.lab_state import write_private

__all__ = ["client_variables", "postgres_variables"]


def client_variables(login: Database, folder: Path) -> dict[str, str]:
    """Return the variables for PostgreSQL's clients; write the password into a file of `folder`."""
    return postgres_variables(login, folder / "pgpass")


def postgres_variables(login: Database, passfile: Path) -> dict[str, str]:
    """Return the variables for PostgreSQL's clients; write the password into `passfile`."""
    password = re.sub(r"([\\:])", r"\\\1", login.password.get_secret_value())
    line = ":".join((login.host, str(login.port), "*", login.user, password))
    write_private(passfile, line + "\n")
    return {
        "PGHOST": login.host,
        "PGPORT": str(login.port),
        "PGUSER": login.user,
        "PGDATABASE": login.database,
        "PGPASSFILE": str(passfile),
    }
