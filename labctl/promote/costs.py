"""The hourly cost of a promoted lab, as far as it is known without asking AWS."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from labctl.promote.connections import interfaces
from labctl.promote.promotion import Promotion
from labctl.sources import ENGINES

__all__ = ["PRICED_REGION", "Cost", "hourly_costs"]

PRICED_REGION = "us-east-1"

_PRICES = {
    # USD per hour, on-demand list prices of us-east-1 in 2025. Storage, traffic and requests are
    # extra and depend on use.
    "mcu": Decimal("0.11"),
    "msk-serverless": Decimal("0.75"),
    "kafka.t3.small": Decimal("0.0456"),
    "kafka.m5.large": Decimal("0.21"),
    "kafka.m7g.large": Decimal("0.204"),
    "db.t4g.medium": Decimal("0.065"),
    "m6g.xlarge": Decimal("0.154") + Decimal("0.0385"),
    "vpc-endpoint": Decimal("0.01"),
    "fargate-vcpu": Decimal("0.04048"),
    "fargate-gib": Decimal("0.004445"),
}


@dataclass(frozen=True)
class Cost:
    """One line of the bill."""

    what: str
    count: int
    each: Decimal | None
    """USD per hour; None if the price is not known."""

    @property
    def total(self) -> Decimal | None:
        return None if self.each is None else self.each * self.count


def hourly_costs(promotion: Promotion) -> list[Cost]:
    """Return everything that AWS bills by the hour while it exists."""
    profile = promotion.profile
    priced = _PRICES if profile.region == PRICED_REGION else {}

    def cost(what: str, count: int, key: str) -> Cost:
        return Cost(what, count, priced.get(key))

    costs = []
    for engine, database in promotion.rds.items():
        if database.create:
            # SQL Server's price includes a licence; `_PRICES` does not have it.
            key = "" if ENGINES[engine].rds.licensed else database.instance_class
            what = f"RDS {engine}, {database.instance_class}"
            costs.append(cost(what, 2 if database.multi_az else 1, key))
    if profile.msk.kind == "serverless":
        costs.append(cost("MSK Serverless cluster, without partitions", 1, "msk-serverless"))
    else:
        what = f"MSK broker, {profile.msk.broker_type}"
        costs.append(cost(what, profile.msk.brokers, profile.msk.broker_type))
    scaling, connect = profile.connect.autoscaling, profile.connect
    workers = scaling.min_workers if scaling else connect.workers or 1
    units = len(promotion.connectors) * connect.mcu * workers
    costs.append(cost("MSK Connect unit (MCU)", units, "mcu"))
    if profile.emr.kind == "ec2":
        what = f"EMR instance, {profile.emr.instance_type}"
        costs.append(cost(what, 1 + profile.emr.core_instances, profile.emr.instance_type))
    else:
        costs.append(Cost("EMR Serverless, by vCPU and GB in use", 1, None))
    if promotion.config.api.enabled:
        tasks, vcpus = profile.api.min_tasks, Decimal(profile.api.cpu) / 1024
        gib = Decimal(profile.api.memory_mib) / 1024
        each = vcpus * priced["fargate-vcpu"] + gib * priced["fargate-gib"] if priced else None
        costs.append(Cost(f"Fargate task, {vcpus} vCPU, {gib} GiB; more under load", tasks, each))
        costs.append(Cost("Application Load Balancer", 1, None))
        if promotion.config.cache.enabled:
            what = f"ElastiCache node, {profile.api.cache_node}"
            costs.append(Cost(what, profile.api.cache_nodes, None))
    if profile.lake.create:
        days = profile.lake.version_days
        costs.append(Cost(f"S3: what was replaced or deleted, for {days} more days", 1, None))
    if profile.network.egress == "endpoints":
        count = len(interfaces(promotion)) * len(profile.network.subnets)
        costs.append(cost("VPC interface endpoint, each zone", count, "vpc-endpoint"))
    return costs
