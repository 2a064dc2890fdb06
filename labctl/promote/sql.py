"""The SQL each source database needs before its connector starts; run by its administrator.

Passwords are never in it: each client puts the value in from an environment variable.
"""

from __future__ import annotations

from labctl.kafkaconnect.files import DEFAULT_PUBLICATION
from labctl.promote.promotion import Promotion
from labctl.sources import ENGINES, Preparation, TableRef

__all__ = ["source_sql"]


def source_sql(promotion: Promotion, source: str) -> str:
    """The script for one source; safe to run again."""
    settings = promotion.config.sources[source]
    file = next(c.file for c in promotion.connectors if c.source == source)
    return ENGINES[settings.engine].preparation(
        Preparation(
            database=promotion.database_of(source),
            schemas=settings.schemas,
            tables=tuple(
                TableRef(table.db_schema, table.source_name)
                for table in promotion.tables_of(source)
            ),
            publication=file.config.get("publication.name", DEFAULT_PUBLICATION),
            multi_az=promotion.captured[source].multi_az,
        )
    )
