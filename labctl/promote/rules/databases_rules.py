"""Rules for RDS: editions, versions and settings that change data capture requires."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.promote.rules.rule import Finding, Subject, rule
from labctl.sources import ENGINES

__all__: list[str] = []

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
def edition_of_licensed_only(subject: Subject) -> Iterator[Finding]:
    for engine, database in subject.promotion.profile.rds.items():
        if not ENGINES[engine].rds.licensed and database.edition:
            yield subject.profile(
                f"rds.{engine}.edition", f"{engine} has no editions", "remove the key"
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


for _engine in ENGINES.values():
    for _check in _engine.promote_rules():
        rule(_check)
