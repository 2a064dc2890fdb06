"""Rules for RDS: editions, versions and settings that change data capture requires."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labctl.engines.postgres import SPARE_SENDERS
from labctl.kafkaconnect.files import DEFAULT_SLOT
from labctl.promote.rules.registry import Finding, Subject, rule
from labctl.sources import ENGINES

__all__: list[str] = []

STANDARD_SINCE = (13, 0, 4422)
"""SQL Server 2016 SP1 CU2: the first Standard edition with CDC on RDS."""
MANAGED_SINCE_ZONES = 2


@rule
def source_has_database(subject: Subject) -> Iterator[Finding]:
    """Check that each source's engine has a database on RDS."""
    for engine in dict.fromkeys(s.engine for s in subject.promotion.config.sources.values()):
        if engine not in subject.promotion.profile.rds:
            yield subject.profile(
                f"rds.{engine}",
                f"the lab captures {engine}, and the profile has no such database",
                "add the section, or remove the source",
            )


@rule
def engine_version(subject: Subject) -> Iterator[Finding]:
    for engine, database in subject.promotion.profile.rds.items():
        rds = ENGINES[engine].rds
        if rds.major(database.version) not in rds.majors:
            yield subject.profile(
                f"rds.{engine}.version",
                f"change data capture from {engine} {database.version} is not known to work on RDS",
                f"use a version of {', '.join(rds.majors)}",
            )


@rule
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


@rule
def edition_only_sqlserver(subject: Subject) -> Iterator[Finding]:
    for engine, database in subject.promotion.profile.rds.items():
        if not ENGINES[engine].rds.licensed and database.edition:
            yield subject.profile(
                f"rds.{engine}.edition", f"{engine} has no editions", "remove the key"
            )


@rule
def mysql_backups(subject: Subject) -> Iterator[Finding]:
    """Check that MySQL has automated backups: RDS writes no binary log without them."""
    database = subject.promotion.profile.rds.get("mysql")
    if database and database.backup_days == 0:
        yield subject.profile(
            "rds.mysql.backup_days",
            "without automated backups RDS writes no binary log, and nothing could be captured",
            "use 1 or more",
        )


@rule
def database_zones(subject: Subject) -> Iterator[Finding]:
    """Check that there are two zones: a subnet group needs them, even for one instance."""
    creates = any(database.create for database in subject.promotion.rds.values())
    zones = len(subject.promotion.profile.network.subnets)
    if creates and zones < MANAGED_SINCE_ZONES:
        yield subject.profile(
            "network.subnets",
            f"RDS wants subnets in {MANAGED_SINCE_ZONES} zones, here is {zones}",
            "add a subnet in another zone",
        )


@rule
def existing_database(subject: Subject) -> Iterator[Finding]:
    """Check that the profile says how to reach an existing instance."""
    for engine, database in subject.promotion.profile.rds.items():
        if database.create:
            continue
        for key in ("host", "security_group", "admin_secret"):
            if getattr(database, key) is None:
                yield subject.profile(
                    f"rds.{engine}.{key}",
                    f"{database.instance} exists already, and the plan does not know its {key}",
                    "add the key, or let the plan create the instance",
                )


@rule
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
