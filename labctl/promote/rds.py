"""The requirements of change data capture on an RDS instance."""

from __future__ import annotations

from labctl.config.aws import RdsSettings
from labctl.engine_names import EngineName
from labctl.promote.promotion import Promotion
from labctl.sources import ENGINES

__all__ = ["engine_name", "family", "parameters"]


def engine_name(engine: EngineName, database: RdsSettings) -> str:
    """Return RDS's own name for the engine."""
    return f"{engine}-{database.edition}" if ENGINES[engine].rds.licensed else engine


def family(engine: EngineName, database: RdsSettings) -> str:
    """Return the parameter group's family: `postgres17`, `mysql8.4`, `sqlserver-se-15.0`."""
    rds = ENGINES[engine].rds
    separator = "-" if rds.licensed else ""
    return f"{engine_name(engine, database)}{separator}{rds.major(database.version)}"


def parameters(promotion: Promotion, engine: EngineName) -> dict[str, str]:
    """Return the parameters by name; none for SQL Server, where SQL enables CDC."""
    connectors = sum(1 for c in promotion.connectors if c.engine == engine)
    return dict(ENGINES[engine].rds.parameters(connectors))
