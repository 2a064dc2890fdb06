"""What change data capture asks of an RDS instance."""

from __future__ import annotations

from labctl.config.aws import RdsSettings
from labctl.config.model import SourceEngine
from labctl.promote.promotion import Promotion
from labctl.sources import ENGINES

__all__ = ["engine_name", "family", "parameters"]


def engine_name(engine: SourceEngine, database: RdsSettings) -> str:
    """RDS's own name of the engine."""
    return f"{engine}-{database.edition}" if ENGINES[engine].rds.licensed else engine


def family(engine: SourceEngine, database: RdsSettings) -> str:
    """The parameter group's family: `postgres17`, `mysql8.4`, `sqlserver-se-15.0`."""
    rds = ENGINES[engine].rds
    separator = "-" if rds.licensed else ""
    return f"{engine_name(engine, database)}{separator}{rds.major(database.version)}"


def parameters(promotion: Promotion, engine: SourceEngine) -> dict[str, str]:
    """Parameters by name; none for SQL Server, whose CDC is switched on by SQL."""
    connectors = sum(1 for c in promotion.connectors if c.engine == engine)
    return dict(ENGINES[engine].rds.parameters(connectors))
