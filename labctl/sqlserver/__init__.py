"""A stand-in for SQL Server: its wire protocol, T-SQL and change data capture over PostgreSQL.

It serves to test connectors and clients, not SQL Server's locking or performance.
"""

from labctl.sqlserver.server import Settings, serve

__all__ = ["Settings", "serve"]
