"""What change data capture asks of each RDS engine."""

from __future__ import annotations

from labctl.config.aws import RdsSettings
from labctl.promote.promotion import Promotion

__all__ = ["engine_name", "family", "major", "parameters"]

SPARE_SENDERS = 8
"""Replication slots and senders besides the connectors': replicas, a second lab, one to debug."""


def major(engine: str, version: str) -> str:
    """The part of a version that names the parameter family: `17`, `8.4`, `15.0`."""
    parts = version.split(".")
    if engine == "postgres":
        return parts[0]
    if engine == "mysql":
        return ".".join(parts[:2])
    return f"{parts[0]}.0"


def engine_name(engine: str, database: RdsSettings) -> str:
    """RDS's own name of the engine."""
    return f"sqlserver-{database.edition}" if engine == "sqlserver" else engine


def family(engine: str, database: RdsSettings) -> str:
    """The parameter group's family: `postgres17`, `mysql8.4`, `sqlserver-se-15.0`."""
    name = engine_name(engine, database)
    separator = "-" if engine == "sqlserver" else ""
    return f"{name}{separator}{major(engine, database.version)}"


def parameters(promotion: Promotion, engine: str) -> dict[str, str]:
    """Parameters by name; none for SQL Server, whose CDC is switched on by SQL."""
    if engine == "postgres":
        slots = sum(1 for c in promotion.connectors if c.engine == engine) + SPARE_SENDERS
        return {
            # Static: it takes a restart. RDS sets wal_level=logical with it.
            "rds.logical_replication": "1",
            "max_replication_slots": str(slots),
            "max_wal_senders": str(slots),
        }
    if engine == "mysql":
        return {
            "binlog_format": "ROW",
            "binlog_row_image": "FULL",
            "gtid-mode": "ON",
            "enforce_gtid_consistency": "ON",
        }
    return {}
