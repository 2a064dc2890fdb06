"""Rules for MSK: versions, sizes, logins."""

from __future__ import annotations

import re
from collections.abc import Iterator

from labctl.promote.broker_logins import serverless
from labctl.promote.rules.rule import Finding, Subject, rule

__all__: list[str] = []

RETENTION = "topic.creation.default.retention.ms"
LEAST_RETENTION_HOURS = 72
"""Enough for a weekend: a stopped application loses the messages that the brokers delete."""
KAFKA = re.compile(r"3\.[789]\.(\d+|x)(\.kraft)?|4\.[01]\.(\d+|x)(\.kraft)?")
"""Kafka versions that MSK offers; apply asks the account for its own list."""
BROKER = re.compile(r"(express|kafka)\.[a-z][a-z0-9]*\.(small|large|\d*xlarge)")
FEWEST_ZONES, MOST_ZONES = 2, 3


@rule
def kafka_version(subject: Subject) -> Iterator[Finding]:
    msk = subject.promotion.profile.msk
    if not serverless(msk) and not KAFKA.fullmatch(msk.kafka_version):
        yield subject.profile(
            "msk.kafka_version",
            f"MSK has no Kafka {msk.kafka_version!r}",
            "use one such as 3.9.x or 4.1.x",
        )


@rule
def broker_type(subject: Subject) -> Iterator[Finding]:
    msk = subject.promotion.profile.msk
    if not serverless(msk) and not BROKER.fullmatch(msk.broker_type):
        yield subject.profile(
            "msk.broker_type",
            f"{msk.broker_type!r} is no type of broker",
            "use one such as kafka.m7g.large",
        )


@rule
def broker_zones(subject: Subject) -> Iterator[Finding]:
    """Check that the brokers are spread evenly over two or three zones."""
    msk = subject.promotion.profile.msk
    zones = len(subject.promotion.profile.network.subnets)
    if serverless(msk):
        return
    if not FEWEST_ZONES <= zones <= MOST_ZONES:
        yield subject.profile(
            "network.subnets",
            f"MSK wants subnets in {FEWEST_ZONES} or {MOST_ZONES} zones, here are {zones}",
            "add or remove subnets",
        )
    elif msk.brokers % zones:
        yield subject.profile(
            "msk.brokers",
            f"{msk.brokers} brokers cannot be spread evenly over {zones} zones",
            f"use a multiple of {zones}",
        )


@rule
def retention(subject: Subject) -> Iterator[Finding]:
    """Check that topics set a retention: MSK's default is 7 days; the lab keeps all messages."""
    for connector in subject.promotion.connectors:
        kept = connector.file.config.get(RETENTION)
        if connector.engine is None:
            continue
        if kept is None:
            reason = "is missing: MSK deletes messages after 7 days, read or not"
        elif not re.fullmatch(r"-1|\d+", kept):
            reason = f"{kept!r} is no number of milliseconds"
        elif 0 <= int(kept) < LEAST_RETENTION_HOURS * 3_600_000:
            reason = f"messages are deleted after {int(kept) / 3_600_000:g} hours, read or not"
        else:
            continue
        yield Finding(
            f"connectors/{connector.file.path.name}",
            RETENTION,
            reason,
            f'use "-1" to keep all, as the lab does, or {LEAST_RETENTION_HOURS} hours or more',
        )


@rule
def broker_login(subject: Subject) -> Iterator[Finding]:
    """Check the logins: MSK Connect supports IAM or none, MSK Serverless only IAM."""
    msk = subject.promotion.profile.msk
    if serverless(msk) and msk.authentication != ("iam",):
        yield subject.profile("msk.authentication", "MSK Serverless knows IAM alone", 'use ["iam"]')
    elif not {"iam", "none"} & set(msk.authentication):
        yield subject.profile(
            "msk.authentication",
            "MSK Connect logs in by IAM or not at all: it could not reach these brokers",
            'add "iam"',
        )


@rule
def scram_secret(subject: Subject) -> Iterator[Finding]:
    """Check the SCRAM secret: MSK requires a name prefix and a customer-managed key."""
    msk = subject.promotion.profile.msk
    if "scram" not in msk.authentication:
        return
    if not (msk.scram_secret or "").startswith("AmazonMSK_"):
        yield subject.profile(
            "msk.scram_secret",
            "MSK takes SCRAM users only from secrets whose names begin with AmazonMSK_",
            "give such a name",
        )
    if not msk.kms_key:
        yield subject.profile(
            "msk.kms_key",
            "MSK refuses SCRAM secrets under AWS's own key",
            "give the ARN of a customer-managed key",
        )
