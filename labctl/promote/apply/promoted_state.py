"""State and removal of a promoted lab."""

from __future__ import annotations

from dataclasses import dataclass

from labctl.aws.session import Aws, Tell
from labctl.config.promoted import outputs_path
from labctl.promote.apply.account import check_account
from labctl.promote.apply.connector_updates import Connectors
from labctl.promote.apply.protection import DATABASE, require_unprotected
from labctl.promote.apply.stacks import Stacks
from labctl.promote.apply.uploads import empty_bucket, owned_bucket
from labctl.promote.apply.work import work_of
from labctl.promote.aws_names import STACKS, Names, Stack, stacks_of
from labctl.promote.promotion import Promotion

__all__ = ["Part", "destroy", "read_state"]

COMPUTE: tuple[Stack, ...] = ("api", "spark", "connect")
"""Stacks that cost money and hold no data; the last one made is deleted first."""
DATA: tuple[Stack, ...] = ("data", "foundation")


@dataclass(frozen=True)
class Part:
    """A part of a promoted lab."""

    kind: str
    name: str
    state: str
    """AWS's own name of the state; "absent" if the part does not exist."""


def read_state(aws: Aws, promotion: Promotion) -> list[Part]:
    """Return the state of stacks, connectors and jobs. Changes nothing."""
    check_account(aws, promotion)
    names = Names.of(promotion)
    stacks = Stacks(aws, names, promotion.profile.tags, _quiet)
    wanted, states = stacks_of(promotion), {stack: stacks.status(stack) for stack in STACKS}
    parts = [
        Part("stack", names.stack(stack), state or "absent")
        for stack, state in states.items()
        # A stack that is no longer wanted but still exists costs money.
        if state or stack in wanted
    ]
    connectors = Connectors(aws, names, _quiet).states()
    parts += [Part("connector", name, state) for name, state in connectors.items()]
    outputs = {"spark": stacks.outputs("spark")}
    if work := work_of(aws, promotion, outputs, _quiet):
        parts += [Part("job", name, "running") for name in sorted(work.running())]
    return parts


def destroy(aws: Aws, promotion: Promotion, tell: Tell, *, data: bool) -> list[Part]:
    """Remove what runs; with `data`, also databases, topics, buckets, secrets. Return the rest.

    Databases leave a final snapshot. Only resources with the creator's tag are touched. Safe to
    repeat. With `data`, raises LabError (USAGE) before removing anything if RDS protects a
    database.
    """
    check_account(aws, promotion)
    names = Names.of(promotion)
    stacks = Stacks(aws, names, promotion.profile.tags, tell)
    for stack in STACKS:
        stacks.status(stack)  # raises before anything is removed
    if data:
        require_unprotected(aws, promotion, stacks.made("data", DATABASE))
    serverless = promotion.profile.emr.kind == "serverless"
    # A cluster's steps end with it; an application cannot be deleted while a job runs on it.
    work = work_of(aws, promotion, {"spark": stacks.outputs("spark")}, tell)
    if serverless and work:
        work.carry_out(work.compare([]))
    connectors = Connectors(aws, names, tell)
    if promotion.profile.connect.connectors == "api":
        connectors.carry_out(connectors.compare([]))
    for stack in COMPUTE:
        stacks.delete(stack)
    if data:
        _destroy_data(aws, promotion, stacks, tell)
    return [part for part in read_state(aws, promotion) if part.state != "absent"]


def _destroy_data(aws: Aws, promotion: Promotion, stacks: Stacks, tell: Tell) -> None:
    names, lake = Names.of(promotion), promotion.profile.lake
    for stack in DATA:
        stacks.delete(stack)
    for bucket in (lake.artifacts, lake.bucket):
        if lake.create and owned_bucket(aws, names, bucket):
            empty_bucket(aws, bucket, tell)
    outputs_path(promotion.project, promotion.profile_name).unlink(missing_ok=True)


def _quiet(_words: str) -> None:
    """Ignore the message."""
