"""Rules for PostgreSQL on RDS: its replication slots."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labctl.engines.postgres import SPARE_SENDERS
from labctl.engines.postgres.postgres_slots import DEFAULT_SLOT
from labctl.promote.rules.rule import Finding, Subject

__all__ = ["RULES"]


def replication_slots(subject: Subject) -> Iterator[Finding]:
    """Check that replication slots have valid names, and that connectors do not exceed them."""
    postgres = [c for c in subject.promotion.connectors if c.engine == "postgres"]
    if len(postgres) > SPARE_SENDERS:
        yield subject.profile(
            "rds.postgres",
            f"{len(postgres)} connectors leave no replication slots to spare",
            "split the source",
        )
    for connector in postgres:
        slot = connector.file.config.get("slot.name", DEFAULT_SLOT)
        if not re.fullmatch(r"[a-z0-9_]{1,63}", slot):
            yield Finding(
                f"connectors/{connector.file.path.name}",
                "slot.name",
                f"PostgreSQL has no replication slot called {slot!r}",
                "use lower-case letters, digits and _, 63 at most",
            )


RULES = (replication_slots,)
