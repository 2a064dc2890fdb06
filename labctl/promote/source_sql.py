"""The SQL that a source database's administrator runs before its connector starts.

It never contains a password: each client takes the password from an environment variable.
"""

from __future__ import annotations

from labctl.kafkaconnect.keys import SIGNALS
from labctl.promote.connector_secrets import login_of
from labctl.promote.promotion import Promotion
from labctl.sources import ENGINES, Preparation, TableRef
from labctl.sources.signal_table import own_signals

__all__ = ["source_sql"]


def source_sql(promotion: Promotion, source: str) -> str:
    """Return the script for one source. It can safely run again."""
    settings, database = promotion.config.sources[source], promotion.database_of(source)
    publication = _publication(promotion, source)
    together = [
        name
        for name in promotion.config.sources_of(settings.engine)
        if promotion.database_of(name) == database and _publication(promotion, name) == publication
    ]
    return ENGINES[settings.engine].preparation(
        Preparation(
            database=database,
            schemas=settings.schemas,
            tables=_tables(promotion, source),
            user=login_of(promotion, source),
            publication=publication,
            published=tuple(
                table
                for name in together
                for table in (*_tables(promotion, name), *filter(None, [_signals(promotion, name)]))
            ),
            multi_az=promotion.captured[source].multi_az,
            signals=_signals(promotion, source),
        )
    )


def _publication(promotion: Promotion, source: str) -> str:
    """Return the publication's name from the connector file."""
    return next(c.file for c in promotion.connectors if c.source == source).publication


def _signals(promotion: Promotion, source: str) -> TableRef | None:
    """Return the signal table of a source's connector, or None if labctl is not to make it."""
    file = next(c.file for c in promotion.connectors if c.source == source)
    return own_signals(file.config.get(SIGNALS, ""))


def _tables(promotion: Promotion, source: str) -> tuple[TableRef, ...]:
    """Return the source tables without duplicates; silver tables may share a source table."""
    tables = promotion.tables_of(source)
    return tuple(dict.fromkeys(TableRef(table.db_schema, table.source_name) for table in tables))
