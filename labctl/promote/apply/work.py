"""Jobs on EMR: each is started once, and replaced if its command line changes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from labctl.aws.session import Aws, Tell, wait_until
from labctl.errors import LabError
from labctl.promote.apply.shown_changes import Action, Change
from labctl.promote.outputs import Outputs, resolve
from labctl.promote.promotion import Promotion

__all__ = ["Work", "WorkStep", "work_of"]

SECONDS = 1200.0
_ALIVE_STEP = ["PENDING", "RUNNING"]
_ALIVE_RUN = ["SUBMITTED", "PENDING", "SCHEDULED", "QUEUED", "RUNNING"]


@dataclass(frozen=True)
class WorkStep:
    """The action planned for one step or job run."""

    name: str
    action: Action
    item: Mapping[str, Any] | None
    running: str | None
    """Id of the running step or job run; None if none runs."""

    def change(self) -> Change:
        return Change("EMR", self.action, self.name, "job")


class Work(ABC):
    """Jobs by name, on a cluster or an application."""

    def __init__(self, aws: Aws, place: str, tell: Tell) -> None:
        self._aws = aws
        self._place = place
        self._tell = tell

    @abstractmethod
    def running(self) -> dict[str, tuple[str, Any]]:
        """Return id and command line of each running job, by name."""

    def compare(self, items: Iterable[Mapping[str, Any]]) -> list[WorkStep]:
        """Return the steps after which exactly these jobs run."""
        held = self.running()
        steps: list[WorkStep] = []
        for item in items:
            name = self.name_of(item)
            identity, command = held.pop(name, (None, None))
            if identity is None:
                steps.append(WorkStep(name, "add", item, None))
            elif command != self.command_of(item):
                steps.append(WorkStep(name, "replace", item, identity))
        return steps + [WorkStep(n, "remove", None, i) for n, (i, _) in held.items()]

    def carry_out(self, steps: Iterable[WorkStep]) -> None:
        """Carry out the steps of `compare`, each by stopping first, then starting."""
        for step in steps:
            if step.running:
                self.stop(step.name, step.running)
            if step.item is not None:
                self.start(step.item)
                self._tell(f"{step.name}: submitted")

    def name_of(self, item: Mapping[str, Any]) -> str:
        return str(item.get("Name") or item["name"])

    @abstractmethod
    def command_of(self, item: Mapping[str, Any]) -> Any: ...

    @abstractmethod
    def start(self, item: Mapping[str, Any]) -> None: ...

    @abstractmethod
    def stop(self, name: str, identity: str) -> None: ...


class ClusterWork(Work):
    """Steps of EMR on EC2."""

    def running(self) -> dict[str, tuple[str, Any]]:
        steps = self._aws.pages(
            "emr", "list_steps", "Steps", ClusterId=self._place, StepStates=_ALIVE_STEP
        )
        return {s["Name"]: (s["Id"], list(s["Config"]["Args"])) for s in steps}

    def command_of(self, item: Mapping[str, Any]) -> Any:
        return list(item["HadoopJarStep"]["Args"])

    def start(self, item: Mapping[str, Any]) -> None:
        self._aws.client("emr").add_job_flow_steps(JobFlowId=self._place, Steps=[item])

    def stop(self, name: str, identity: str) -> None:
        client = self._aws.client("emr")
        answer = client.cancel_steps(
            ClusterId=self._place,
            StepIds=[identity],
            StepCancellationOption="TERMINATE_PROCESS",
        )
        for info in answer.get("CancelStepsInfoList", []):
            if info["Status"] == "FAILED":
                raise LabError(f"EMR would not stop {name}: {info.get('Reason', '')}")

        def look() -> str:
            step = client.describe_step(ClusterId=self._place, StepId=identity)["Step"]
            return str(step["Status"]["State"])

        wait_until(
            look,
            lambda state: state not in (*_ALIVE_STEP, "CANCEL_PENDING"),
            aws=self._aws,
            seconds=SECONDS,
            tell=lambda state: self._tell(f"{name}: {state.lower()}"),
        )


class ApplicationWork(Work):
    """Job runs of EMR Serverless."""

    def running(self) -> dict[str, tuple[str, Any]]:
        client = self._aws.client("emr-serverless")
        runs = self._aws.pages(
            "emr-serverless", "list_job_runs", "jobRuns", applicationId=self._place
        )
        found = {}
        for run in runs:
            if run["state"] not in _ALIVE_RUN:
                continue
            whole = client.get_job_run(applicationId=self._place, jobRunId=run["id"])["jobRun"]
            found[run.get("name", run["id"])] = (run["id"], whole["jobDriver"])
        return found

    def command_of(self, item: Mapping[str, Any]) -> Any:
        return item["jobDriver"]

    def start(self, item: Mapping[str, Any]) -> None:
        self._aws.client("emr-serverless").start_job_run(**item)

    def stop(self, name: str, identity: str) -> None:
        client = self._aws.client("emr-serverless")
        client.cancel_job_run(applicationId=self._place, jobRunId=identity)

        def look() -> str:
            run = client.get_job_run(applicationId=self._place, jobRunId=identity)["jobRun"]
            return str(run["state"])

        wait_until(
            look,
            lambda state: state not in (*_ALIVE_RUN, "CANCELLING"),
            aws=self._aws,
            seconds=SECONDS,
            tell=lambda state: self._tell(f"{name}: {state.lower()}"),
        )


def work_of(aws: Aws, promotion: Promotion, outputs: Outputs, tell: Tell) -> Work | None:
    """Return the jobs of the cluster or application; None while there is neither."""
    spark = outputs.get("spark", {})
    if promotion.profile.emr.kind == "serverless":
        place = spark.get("ApplicationId")
        return ApplicationWork(aws, place, tell) if place else None
    place = spark.get("ClusterId")
    return ClusterWork(aws, place, tell) if place else None


def resolved(items: Iterable[Mapping[str, Any]], outputs: Outputs) -> list[dict[str, Any]]:
    return [resolve(item, outputs) for item in items]
