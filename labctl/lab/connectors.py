"""The connectors a lab runs, and waiting until they do."""

from __future__ import annotations

import time
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.apply import Applied, apply_connectors
from labctl.kafkaconnect.client import ConnectClient
from labctl.kafkaconnect.files import ConnectorFile, read_connector
from labctl.lab.lab import Lab
from labctl.lab.pipeline import bronze_writer
from labctl.services.silver import SINK_CONNECTOR

__all__ = [
    "apply_and_wait",
    "is_running",
    "lab_files",
    "restart_failed_tasks",
    "source_files",
    "wait_running",
]

START_SECONDS = 60
POLL_SECONDS = 0.1


def lab_files(lab: Lab) -> list[ConnectorFile]:
    """The files of the connectors this lab runs.

    The sink connector's is among them where the Spark application leaves bronze to it.
    """
    files = source_files(lab)
    if bronze_writer(lab) == "connect":
        files.append(read_connector(lab.project / "connectors" / f"{SINK_CONNECTOR}.json"))
    return files


def source_files(lab: Lab) -> list[ConnectorFile]:
    """The files of the source connectors that `lab.toml` names."""
    folder = lab.project / "connectors"
    return [read_connector(folder / f"{s.connector}.json") for s in lab.config.sources.values()]


def apply_and_wait(client: ConnectClient, files: list[ConnectorFile]) -> list[Applied]:
    """Apply `files` and wait until they run. Raises LabError when one fails."""
    applied = apply_connectors(client, files)
    wait_running(client, [file.name for file in files])
    return applied


def is_running(status: dict[str, Any]) -> bool:
    """Whether a connector and every one of its tasks runs."""
    states = [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
    return len(states) > 1 and all(state == "RUNNING" for state in states)


def restart_failed_tasks(client: ConnectClient) -> list[str]:
    """Restart connectors of which a part has failed; their names. Kafka Connect never does."""
    failed = [name for name in client.names() if _has_failed(_status(client, name))]
    for name in failed:
        client.act(name, "restart")
    return failed


def _has_failed(status: dict[str, Any]) -> bool:
    return any(part["state"] == "FAILED" for part in (status["connector"], *status["tasks"]))


def wait_running(client: ConnectClient, names: list[str]) -> None:
    """Wait until every connector in `names` runs; LabError with its trace when one failed."""
    deadline = time.monotonic() + START_SECONDS
    for name in names:
        while not is_running(status := _status(client, name)):
            parts = [status["connector"], *status["tasks"]]
            failed = next((part for part in parts if part["state"] == "FAILED"), None)
            if failed or time.monotonic() > deadline:
                trace = (failed or {}).get("trace", "").strip().splitlines()
                what = "failed" if failed else f"does not run after {START_SECONDS} s"
                raise LabError(
                    f"Connector {name} {what}",
                    details=tuple(line for line in trace if "Caused by" in line)
                    or tuple(trace[:4]),
                    hint="labctl logs connect",
                    exit_code=ExitCode.NOT_READY,
                )
            time.sleep(POLL_SECONDS)


def _status(client: ConnectClient, name: str) -> dict[str, Any]:
    """The status; a connector just made has none yet for a moment."""
    try:
        return client.status(name)
    except LabError as error:
        if "No status found" not in error.what:
            raise
        return {"connector": {"state": "UNASSIGNED"}, "tasks": []}
