"""Rules for MySQL on RDS: what writes a binary log."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.promote.rules.rule import Finding, Subject

__all__ = ["RULES"]


def mysql_backups(subject: Subject) -> Iterator[Finding]:
    """Check that MySQL has automated backups: RDS writes no binary log without them."""
    database = subject.promotion.profile.rds.get("mysql")
    if database and database.backup_days == 0:
        yield subject.profile(
            "rds.mysql.backup_days",
            "without automated backups RDS writes no binary log, and nothing could be captured",
            "use 1 or more",
        )


RULES = (mysql_backups,)
