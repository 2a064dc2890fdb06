"""Rules for SQL Server on RDS: the editions that have change data capture."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labctl.promote.rules.rule import Finding, Subject

__all__ = ["RULES"]

STANDARD_SINCE = (13, 0, 4422)
"""SQL Server 2016 SP1 CU2: the first Standard edition with CDC on RDS."""


def sqlserver_edition(subject: Subject) -> Iterator[Finding]:
    """Check for an edition with CDC: Express and Web have none, Standard since 2016 SP1 CU2."""
    database = subject.promotion.profile.rds.get("sqlserver")
    if database is None:
        return
    if database.edition in ("ex", "web", None):
        named = {"ex": "Express", "web": "Web", None: "an unnamed edition"}[database.edition]
        yield subject.profile(
            "rds.sqlserver.edition",
            f"SQL Server has no change data capture in {named}",
            'use "se" or "ee"',
        )
    numbers = tuple(int(part) for part in re.findall(r"\d+", database.version)[:3])
    if database.edition == "se" and numbers < STANDARD_SINCE:
        yield subject.profile(
            "rds.sqlserver.version",
            f"Standard edition {database.version} has no change data capture",
            "use 13.00.4422.0 or later",
        )


RULES = (sqlserver_edition,)
