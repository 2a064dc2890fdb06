"""Requests to the Spark application for one table, and waiting until they are done."""

from __future__ import annotations

import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal

import requests

from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import end_offsets
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import HELD_UP, silver_status
from labctl.services import silver_service

if TYPE_CHECKING:
    from labctl.lake.deadletters import DeadLetters

__all__ = [
    "lab_dead_letters",
    "refill_table",
    "register_tables",
    "replay_table",
    "restart_table",
    "said",
]

_Action = Literal["refill", "register", "replay", "restart"]
_POLL_SECONDS = 0.2
_TIMEOUT_SECONDS = 600.0


def _ask(lab: Lab, name: str, action: _Action) -> None:
    """Have the application do `action` with a table, while the others continue.

    Raises LabError if the application does not accept the request.
    """
    application = lab.endpoints.silver
    url = f"{application.status_url}/tables/{name}/{action}"
    try:
        requests.post(url, headers=application.headers, timeout=60).raise_for_status()
    except requests.RequestException as error:
        if refused := said(error):
            raise LabError(
                f"{name} goes on as before: {refused}", exit_code=ExitCode.USAGE
            ) from None
        raise LabError(
            f"The Spark application did not take the request to {action} {name}: {error}",
            hint="labctl status",
            exit_code=ExitCode.NOT_READY,
        ) from None


def said(error: requests.RequestException) -> str | None:
    """Return why the application refused a request; None if something else failed."""
    if error.response is None or error.response.status_code != HTTPStatus.CONFLICT:
        return None
    body: dict[str, str] = error.response.json()
    return f"{body['error']}. {body['hint']}"


def restart_table(lab: Lab, name: str) -> None:
    """Restart a table with its current properties file, and wait until it has restarted.

    Raises LabError (USAGE) if the properties cannot be used; the table then continues as before.
    Raises LabError if the table stops instead.
    """
    table = lab.table(name)
    _ask(lab, table.name, "restart")
    begun = time.monotonic()
    while True:
        state = _state(lab, table.name)
        by_these = state.get("configuration") == table.properties.digest
        if by_these and (state["state"] == "running" or state["waiting_for"]):
            return
        if by_these and state["state"] in HELD_UP:
            raise LabError(
                f"{table.name} is {state['state']}: {state['error']}",
                hint="correct its properties file; labctl logs silver",
            )
        if time.monotonic() - begun > _TIMEOUT_SECONDS:
            raise LabError(
                f"{table.name} has not begun again after {_TIMEOUT_SECONDS:.0f} s",
                hint="labctl status, labctl logs silver",
            )
        time.sleep(_POLL_SECONDS)


def _wait_until_done(lab: Lab, name: str, request_path: str) -> dict[str, Any]:
    """Wait until the table's request is gone from the lake; return the table's status.

    A request outlives the application: if the application dies in the meantime, it resumes the
    request. Raises LabError if the table stops instead.
    """
    begun = time.monotonic()
    while _exists(lab, request_path):
        state = _state(lab, name)
        if state.get("state") == "failed":
            raise LabError(f"{name} stopped: {state['error']}", hint="labctl logs silver")
        if time.monotonic() - begun > _TIMEOUT_SECONDS:
            raise LabError(
                f"{name} is still at it after {_TIMEOUT_SECONDS:.0f} s; it goes on",
                hint="labctl status, labctl logs silver",
            )
        time.sleep(_POLL_SECONDS)
    return _state(lab, name)


def refill_table(lab: Lab, name: str) -> None:
    """Have a table, and bronze, written again from the beginning of the table's topic.

    Returns when the old table is gone and the bronze files are moved aside; the topic is then
    ingested as at the first time. Without a topic, as for a source without rows, it returns at once
    and the request waits for the topic.
    """
    table = lab.table(name)
    _ask(lab, table.name, "refill")
    if not end_offsets(lab.endpoints.kafka, [table.topic])[table.topic]:
        return
    options = silver_service.options(lab.context(lab.service(silver_service.SERVICE.name)))
    _wait_until_done(lab, table.name, options.refill_request_path(table.name))


def replay_table(lab: Lab, name: str) -> dict[str, Any]:
    """Replay those of a table's dead letters that can now be decoded.

    Returns how many were `ingested`, were `overtaken` by later records, or are `still_bad`. Raises
    LabError (USAGE) if the table is fed from bronze, which holds only decodable records.
    """
    table = lab.table(name)
    if lab.config.silver.source == "bronze":
        raise LabError(
            f"{name} is fed from bronze files: a record that could not be decoded is not in them",
            hint=f"once bronze has it: labctl table rebuild {name}",
            exit_code=ExitCode.USAGE,
        )
    _ask(lab, table.name, "replay")
    options = silver_service.options(lab.context(lab.service(silver_service.SERVICE.name)))
    state = _wait_until_done(lab, table.name, options.replay_request_path(table.name))
    result: dict[str, Any] | None = state.get("last_replay")
    if result is None:
        raise LabError(
            f"The Spark application was restarted while it replayed {name}: it is done, and what "
            "it did is not known",
            hint=f"labctl topics deadletters list {name}",
        )
    if result["error"]:
        raise LabError(f"The dead letters of {name} were not replayed: {result['error']}")
    return result


def register_tables(lab: Lab, names: Sequence[str] = ()) -> list[str]:
    """Register tables (all if none is named) in Hive's metastore; return those that it has now.

    Raises LabError if one of them cannot be registered.
    """
    tables = [lab.table(name).name for name in names] or [table.name for table in lab.tables]
    for name in tables:
        _ask(lab, name, "register")
    return [name for name in tables if _is_registered(lab, name)]


def _is_registered(lab: Lab, name: str) -> bool:
    """Wait until a table is registered. Return False for a table without a commit."""
    begun = time.monotonic()
    while True:
        state = _state(lab, name).get("catalog") or {"due": True, "told_at": None, "error": None}
        if not state["due"]:
            return state["told_at"] is not None
        if state["error"] is not None or time.monotonic() - begun > _TIMEOUT_SECONDS:
            raise LabError(
                f"{name} was not registered in Hive's metastore: "
                f"{state['error'] or 'the Spark application is still at it'}",
                hint="labctl status; labctl logs metastore",
                exit_code=ExitCode.NOT_READY,
            )
        time.sleep(_POLL_SECONDS)


def lab_dead_letters(lab: Lab) -> DeadLetters:
    """Return the dead letters of `lab`."""
    # Imported here: `labctl status` uses this module, and Arrow is slow to load.
    from labctl.lake.deadletters import DeadLetters
    from labctl.lake.objectstore import LakeStorage

    store = lab.endpoints.objectstore
    options = silver_service.options(lab.context(lab.service(silver_service.SERVICE.name)))
    folder = options.dead_letter_base_path.removeprefix(f"s3a://{store.bucket}/")
    return DeadLetters(LakeStorage.of(store), folder)


def _exists(lab: Lab, path: str) -> bool:
    from labctl.lake.objectstore import s3_client

    store = lab.endpoints.objectstore
    key = path.removeprefix(f"s3a://{store.bucket}/")
    listed = s3_client(store).list_objects_v2(Bucket=store.bucket, Prefix=key)
    return any(entry["Key"] == key for entry in listed.get("Contents", []))


def _state(lab: Lab, name: str) -> dict[str, Any]:
    """Return the table's state; `starting` while the application restarts."""
    try:
        state: dict[str, Any] = silver_status(lab)["tables"][name]
    except requests.RequestException:
        return {"state": "starting"}
    return state
