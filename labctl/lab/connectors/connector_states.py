"""The connectors of a lab: apply, restart and delete them, and wait until they run."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import delete_records
from labctl.kafkaconnect.apply import Applied, apply_connectors
from labctl.kafkaconnect.conflicts import check_apart
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.keys import history_login
from labctl.kafkaconnect.opening import connect_client
from labctl.kafkaconnect.traces import cause, needs_snapshot
from labctl.lab.connectors.capture_instances import instances_now, note_instances
from labctl.lab.connectors.capture_setup import set_up_capture
from labctl.lab.connectors.connector_slots import drop_slot, slot_of
from labctl.lab.connectors.failed_capture import why_failed
from labctl.lab.connectors.restored_sources import forget_restored
from labctl.lab.connectors.source_files import source_files
from labctl.lab.connectors.table_filters import check_captured
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.busy import when_busy
from labctl.lab.observe.pipeline_state import bronze_writer
from labctl.lab.tables.table_requests import refill_table
from labctl.sinks import check_sinks

__all__ = [
    "apply_and_wait",
    "check_files",
    "check_sink_files",
    "delete_connector",
    "give_logins",
    "is_running",
    "lab_files",
    "require_not_failed",
    "restart_failed_tasks",
    "snapshot_again",
    "source_files",
    "wait_running",
]

START_SECONDS = 60
"""Seconds that a connector may take until it runs, on a machine that is not busy."""
RESTART_SECONDS = 3
POLL_SECONDS = 0.1


def lab_files(lab: Lab) -> list[ConnectorFile]:
    """Return the files of the connectors that this lab runs.

    They include the sinks' files if the Spark application leaves bronze to the sink connectors.
    """
    files = source_files(lab)
    check_apart(files)
    if bronze_writer(lab) == "connect":
        files += [sink.file for sink in lab.sinks]
    return files


def check_files(lab: Lab) -> None:
    """Check the project's files before anything starts, without asking a service.

    Raises LabError (USAGE) for a table without a source, a source without a usable connector file,
    two sources whose connectors conflict, or a table that its connector leaves out.
    """
    _ = lab.tables
    check_apart(source_files(lab))
    check_captured(lab)


def check_sink_files(lab: Lab) -> None:
    """Check the sink connectors' files for settings that keep a table's changes from bronze.

    Call it before anything starts. Raises LabError (USAGE). In containers the sink connector itself
    may be installed, which can do more than the Spark application: only its worker can check its
    file.
    """
    native = lab.config.profiles[lab.profile].runtime == "native"
    check_sinks(lab.project, lab.tables, written_by_spark=native)


def apply_and_wait(lab: Lab, files: list[ConnectorFile] | None = None) -> list[Applied]:
    """Apply `files`, or all of the lab's, and wait until they run. Raises LabError if one fails.

    The databases are prepared for capture first, once the files have passed their own checks.
    """
    files = lab_files(lab) if files is None else files
    client = connect_client(lab.endpoints.connect)
    names = [file.name for file in files]
    without_table: dict[str, tuple[str, ...]] = {}
    applied = apply_connectors(
        client,
        files,
        lab.config.connectors.allow,
        prepare=lambda: without_table.update(set_up_capture(lab, files)),
    )
    wait_running(
        client,
        names,
        restarted=any(one.change == "updated" for one in applied),
        explain=partial(why_failed, lab),
    )
    return [replace(one, without_table=without_table.get(one.name, ())) for one in applied]


def delete_connector(lab: Lab, name: str) -> list[str]:
    """Remove a connector from Connect; return one phrase for each thing done besides.

    Its replication slot is dropped too, or PostgreSQL would keep its log for no reader. Its stored
    position is forgotten as well, because it is of no use without the slot.
    """
    client = connect_client(lab.endpoints.connect)
    # On MSK Connect, positions and slots cannot be reached from here.
    found = _slot(lab, name) if client.tells_offsets else None
    if found is not None:
        client.forget_offsets(name)
    client.delete(name)
    if found is None or not drop_slot(lab, *found):
        return []
    return [f"replication slot {found[1]} dropped", "its stored position forgotten"]


def snapshot_again(lab: Lab, name: str, *, start_over: bool = False) -> None:
    """Have a source connector forget its position, load every table again, and then resume.

    This is for a connector whose position its database no longer has. Rows that were deleted while
    nobody read the log stay in silver. With `start_over`, the topics are emptied first, and tables
    and bronze are written again from the new snapshot alone, without their history. Raises LabError
    if the connector does not run afterwards.
    """
    client = connect_client(lab.endpoints.connect)
    tables = [t for t in lab.tables if lab.config.sources[t.source].connector == name]
    instances = instances_now(lab, tables) if start_over else {}
    client.forget_offsets(name)
    if start_over:
        forget_restored(lab, name)
        delete_records(lab.endpoints.kafka, sorted({table.topic for table in tables}))
    if (found := _slot(lab, name)) is not None:
        drop_slot(lab, *found)
    client.act(name, "resume")
    wait_running(client, [name], explain=partial(why_failed, lab))
    for table in tables if start_over else ():
        refill_table(lab, table.name)
    note_instances(lab, instances)


def _slot(lab: Lab, connector: str) -> tuple[str, str] | None:
    """Return the source and the replication slot of a connector; None if it has no slot."""
    file = next((file for file in source_files(lab) if file.name == connector), None)
    slot = None if file is None else slot_of(file)
    if slot is None:
        return None
    return next(n for n, s in lab.config.sources.items() if s.connector == connector), slot


def is_running(status: dict[str, Any]) -> bool:
    """Return whether a connector and all of its tasks run; it must have a task."""
    states = [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
    return len(states) > 1 and all(state == "RUNNING" for state in states)


def give_logins(client: ConnectClient) -> list[str]:
    """Add a login, as files have it, to connectors made before Kafka required one.

    Returns the names of these connectors.
    """
    given = []
    for name, held in client.configs().items():
        login = history_login(held)
        if login and not login.keys() & held.keys():
            client.put(name, held | login)
            given.append(name)
    return given


def restart_failed_tasks(client: ConnectClient) -> list[str]:
    """Restart connectors with a failed part, as Kafka Connect never does; return their names."""
    failed = [name for name, status in client.statuses().items() if _has_failed(status)]
    for name in failed:
        client.act(name, "restart")
    return failed


def _has_failed(status: dict[str, Any]) -> bool:
    return any(part["state"] == "FAILED" for part in (status["connector"], *status["tasks"]))


def require_not_failed(lab: Lab, name: str) -> None:
    """Raise LabError (NOT_READY) if a connector, or a task of it, has failed."""
    status = connect_client(lab.endpoints.connect).statuses().get(name)
    if status is not None and _has_failed(status):
        parts = [status["connector"], *status["tasks"]]
        trace = next((part["trace"] for part in parts if part.get("trace")), "")
        raise _not_running(name, "failed", trace, partial(why_failed, lab))


def wait_running(
    client: ConnectClient,
    names: list[str],
    *,
    restarted: bool = False,
    explain: Callable[[str, str], str] = cause,
) -> None:
    """Wait until every connector in `names` runs; raise LabError, with its trace, if one fails.

    For a connector that was just `restarted`, Connect reports the old failure for a moment longer.
    `explain` turns a trace and the connector's name into one sentence.
    """
    begun = time.monotonic()
    seconds = when_busy(START_SECONDS)
    deadline = begun + seconds
    believed = begun + (RESTART_SECONDS if restarted else 0)
    for name in names:
        while not is_running(status := _status(client, name)):
            parts = [status["connector"], *status["tasks"]]
            failed = next((part for part in parts if part["state"] == "FAILED"), None)
            if time.monotonic() < believed:
                failed = None
            if failed or time.monotonic() > deadline:
                trace = (failed or {}).get("trace", "")
                what = "failed" if failed else f"does not run after {seconds:.0f} s"
                raise _not_running(name, what, trace, explain)
            time.sleep(POLL_SECONDS)


def _not_running(name: str, what: str, trace: str, explain: Callable[[str, str], str]) -> LabError:
    return LabError(
        f"Connector {name} {what}",
        details=(explain(trace, name),) if trace else (),
        hint=f"labctl connectors snapshot {name}"
        if needs_snapshot(trace)
        else "labctl logs connect",
        exit_code=ExitCode.NOT_READY,
    )


def _status(client: ConnectClient, name: str) -> dict[str, Any]:
    """Return a connector's status; a new connector, which has none yet, is UNASSIGNED."""
    try:
        return client.status(name)
    except LabError as error:
        if "No status found" not in error.what:
            raise
        return {"connector": {"state": "UNASSIGNED"}, "tasks": []}
