"""The resources of a promoted lab that AWS bills while they exist."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from labctl.promote.network_connections import interfaces
from labctl.promote.promotion import Promotion
from labctl.promote.rds import engine_name

__all__ = ["billed_resources"]


def billed_resources(promotion: Promotion) -> Iterator[tuple[str, int]]:
    """Yield each resource that AWS bills while it exists, and the number of them."""
    profile = promotion.profile
    for engine, database in promotion.rds.items():
        if database.create:
            name = f"RDS {engine_name(engine, database)}, {database.instance_class}"
            yield name, 2 if database.multi_az else 1
    if profile.msk.kind == "serverless":
        yield "MSK Serverless cluster; also per partition", 1
    else:
        yield f"MSK broker, {profile.msk.broker_type}", profile.msk.brokers
    scaling, connect = profile.connect.autoscaling, profile.connect
    workers = scaling.min_workers if scaling else connect.workers or 1
    yield "MSK Connect unit (MCU)", len(promotion.connectors) * connect.mcu * workers
    if profile.emr.kind == "ec2":
        yield f"EMR instance, {profile.emr.instance_type}", 1 + profile.emr.core_instances
    else:
        yield "EMR Serverless, by vCPU and GB in use", 1
    if promotion.config.api.enabled:
        vcpus, gib = Decimal(profile.api.cpu) / 1024, Decimal(profile.api.memory_mib) / 1024
        yield f"Fargate task, {vcpus} vCPU, {gib} GiB; more under load", profile.api.min_tasks
        yield "Application Load Balancer", 1
        if promotion.config.cache.enabled:
            yield f"ElastiCache node, {profile.api.cache_node}", profile.api.cache_nodes
    if profile.lake.create:
        yield f"S3: what was replaced or deleted, for {profile.lake.version_days} more days", 1
    if profile.network.egress == "endpoints":
        zones = len(profile.network.subnets)
        yield "VPC interface endpoint, each zone", len(interfaces(promotion)) * zones
