"""Apply: compare with AWS, show the changes, make them in order, save the lab's addresses.

No state is kept on this machine: every step asks AWS for the current one. If an apply was
interrupted, repeat it: it does only the remaining steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from labctl.aws.session import Aws, Tell
from labctl.config.promoted import outputs_path
from labctl.errors import ExitCode, LabError
from labctl.promote.apply.account import (
    bootstrap_servers,
    check_account,
    check_names_free,
    check_offers,
)
from labctl.promote.apply.api_image_push import require_image
from labctl.promote.apply.connector_updates import Connectors
from labctl.promote.apply.secret_values import fill_secrets
from labctl.promote.apply.shown_changes import Change
from labctl.promote.apply.stack_endpoints import promoted_endpoints
from labctl.promote.apply.stacks import Stacks
from labctl.promote.apply.uploads import missing_uploads, upload
from labctl.promote.apply.work import resolved, work_of
from labctl.promote.aws_names import STACKS, Names, Stack, stacks_of
from labctl.promote.broker_logins import connect_authentication
from labctl.promote.outputs import resolve
from labctl.promote.plan import Plan
from labctl.promote.promotion import Promotion

__all__ = ["Apply"]


@dataclass
class Apply:
    """A promotion that is being carried out."""

    promotion: Promotion
    plan: Plan
    aws: Aws
    tell: Tell
    until: Stack = STACKS[-1]
    """The last stage to make."""
    _outputs: dict[str, dict[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = Names.of(self.promotion)
        self._stacks = Stacks(self.aws, names, self.promotion.profile.tags, self.tell)
        self._connectors = Connectors(self.aws, names, self.tell)

    @property
    def stages(self) -> tuple[Stack, ...]:
        last = STACKS.index(self.until)
        return tuple(s for s in stacks_of(self.promotion) if STACKS.index(s) <= last)

    @property
    def outputs_file(self) -> Path:
        """The file in which the lab's addresses are saved."""
        return outputs_path(self.promotion.project, self.promotion.profile_name)

    def preview(self) -> list[Change]:
        """Return every change that `carry_out` would make, without making it; may be empty.

        Raises LabError for a wrong account, or if a wanted name belongs to a resource that labctl
        did not make. For a stack that does not exist yet, the whole template counts as new.
        Connectors and jobs whose stacks are still to change are shown as far as they are known.
        """
        check_account(self.aws, self.promotion)
        check_offers(self.aws, self.promotion)
        if not self._stacks.exists("foundation"):
            check_names_free(self.aws, self.promotion)
        changes: list[Change] = []
        for stage in self.stages:
            changes += self._preview_stack(stage)
            changes += self._preview_after(stage)
        return changes

    def _preview_stack(self, stage: Stack) -> list[Change]:
        template = self.plan.templates[stage]
        parameters = self._parameters(stage)
        if parameters is None or not self._stacks.exists(stage):
            resources = template["Resources"].items()
            return [Change(stage, "add", name, one["Type"]) for name, one in resources]
        prepared = self._stacks.prepare(stage, template, parameters)
        self._outputs[stage] = self._stacks.outputs(stage)
        if prepared is None:
            return []
        self._stacks.discard(prepared)
        return list(prepared.changes)

    def _preview_after(self, stage: Stack) -> list[Change]:
        if stage == "foundation":
            bucket = self.promotion.profile.lake.artifacts
            missing = missing_uploads(self.aws, bucket, self.plan.uploads)
            return [Change("S3", "add", one.key, "artifact") for one in missing]
        if stage == "data":
            self._find_brokers()
        if stage == "connect" and self._owns_connectors:
            try:
                return [step.change() for step in self._connectors.compare(self._requests())]
            except LabError as error:
                if error.exit_code is ExitCode.USAGE:
                    raise
                names = [r["connectorName"] for r in self.plan.connectors.values()]
                return [Change("MSK Connect", "add", name, "connector") for name in names]
        if stage == "spark":
            work = work_of(self.aws, self.promotion, self._outputs, self.tell)
            if work is None or "kafka" not in self._outputs:
                names = [item.get("Name") or item["name"] for item in self.plan.work]
                return [Change("EMR", "add", name, "job") for name in names]
            return [s.change() for s in work.compare(resolved(self.plan.work, self._outputs))]
        return []

    def carry_out(self) -> None:
        """Apply the plan stage by stage. Raises LabError with the cause; can then be repeated."""
        if not self.plan.complete:
            raise LabError(
                "This plan has no artifacts to upload",
                hint="plan it without --without-artifacts",
                exit_code=ExitCode.USAGE,
            )
        for stage in self.stages:
            parameters = self._parameters(stage)
            if parameters is None:
                raise LabError(f"The stack {stage} needs outputs that are not there")
            if stage == "api":
                require_image(self.aws, self.promotion)
            prepared = self._stacks.prepare(stage, self.plan.templates[stage], parameters)
            if prepared:
                self._stacks.execute(prepared)
            self._outputs[stage] = self._stacks.outputs(stage)
            self._after(stage)
            self._write_down()

    def _after(self, stage: Stack) -> None:
        bucket = self.promotion.profile.lake.artifacts
        if stage == "foundation":
            missing = missing_uploads(self.aws, bucket, self.plan.uploads)
            upload(self.aws, bucket, missing, self.tell)
        elif stage == "data":
            self._find_brokers()
            fill_secrets(self.aws, self.promotion, self._outputs, self.tell)
        elif stage == "connect" and self._owns_connectors:
            self._connectors.carry_out(self._connectors.compare(self._requests()))
        elif stage == "spark":
            work = work_of(self.aws, self.promotion, self._outputs, self.tell)
            if work is not None:
                work.carry_out(work.compare(resolved(self.plan.work, self._outputs)))

    @property
    def _owns_connectors(self) -> bool:
        return self.promotion.profile.connect.connectors == "api"

    def _requests(self) -> list[Mapping[str, Any]]:
        return [resolve(request, self._outputs) for request in self.plan.connectors.values()]

    def _parameters(self, stage: Stack) -> dict[str, str] | None:
        """Return the stack's parameters from earlier stacks' outputs; None while one is missing.

        A parameter has the same name as the output that it takes.
        """
        known: dict[str, str] = {}
        for outputs in self._outputs.values():
            known |= outputs
        wanted = self.plan.templates[stage].get("Parameters", {})
        if any(name not in known for name in wanted):
            return None
        return {name: known[name] for name in wanted}

    def _find_brokers(self) -> None:
        login = connect_authentication(self.promotion.profile.msk)
        servers = bootstrap_servers(self.aws, self.promotion, self._outputs, login)
        if servers:
            self._outputs["kafka"] = {"BootstrapServers": servers}

    def _write_down(self) -> None:
        promoted_endpoints(self.promotion, self._outputs).save(
            self.promotion.project, self.promotion.profile_name
        )
