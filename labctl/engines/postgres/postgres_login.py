"""Settings of the connector's login with which Debezium reads values as they are.

A database may have others: Debezium takes `bytea` for hexadecimal digits, and reads intervals in
PostgreSQL's own style alone.
"""

from __future__ import annotations

__all__ = ["login_settings"]

_SETTINGS = {"bytea_output": "hex", "intervalstyle": "postgres"}


def login_settings(user: str) -> str:
    """Return the statements that give the login its settings, which come before a database's."""
    return "".join(
        f"ALTER ROLE {user} SET {name} = '{value}';\n" for name, value in _SETTINGS.items()
    )
