"""Settings with which SQL Server's own clients log in."""

from __future__ import annotations

from pathlib import Path

from labctl.config.endpoints import Database
from labctl.state.lab_state import write_private

__all__ = ["client_variables"]


def client_variables(login: Database, folder: Path) -> dict[str, str]:
    """Return the variables for sqlcmd; write the password into a file of `folder`."""
    # sqlcmd reads a password only from its own environment variable.
    write_private(folder / "sqlserver-password", login.password.get_secret_value())
    return {
        "SQLCMDSERVER": f"tcp:{login.host},{login.port}",
        "SQLCMDUSER": login.user,
        "SQLCMDDBNAME": login.database,
        "SQLSERVER_PASSWORD_FILE": str(folder / "sqlserver-password"),
    }
