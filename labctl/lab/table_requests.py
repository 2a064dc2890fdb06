"""Asking the Spark application to do something with one table, and waiting until it has."""

from __future__ import annotations

import time
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Literal

import requests

from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import end_offsets
from labctl.lab.lab import Lab
from labctl.lab.pipeline import HELD_UP, silver_status
from labctl.lake.deadletters import DeadLetters
from labctl.lake.objectstore import LakeStorage, s3_client
from labctl.services import silver

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
    """Have the application do `action` with a table, beside the others.

    Raises LabError when the application does not take the request.
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
    """Why the application refused a request; None when it was something else that failed."""
    if error.response is None or error.response.status_code != HTTPStatus.CONFLICT:
        return None
    body: dict[str, str] = error.response.json()
    return f"{body['error']}. {body['hint']}"


def restart_table(lab: Lab, name: str) -> None:
    """Have a table restart by what its properties file says now, and wait until it has.

    Raises LabError (USAGE) when they cannot be used, and the table goes on as before; LabError when
    it stops instead.
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
    """Wait until the table's request is gone from the lake; returns the table's status.

    A request outlives the application: should it die on the way, it takes it up again. Raises
    LabError when the table stops instead.
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
    """Have a table written again from its topic's beginning, and bronze too.

    Returns when the old table is gone and the bronze files are put aside; the topic is then taken
    in as at the first time. Without a topic, as of a source without rows, the request waits for it.
    """
    table = lab.table(name)
    _ask(lab, table.name, "refill")
    if not end_offsets(lab.endpoints.kafka, [table.topic])[table.topic]:
        return
    options = silver.options(lab.context(lab.service(silver.SERVICE.name)))
    _wait_until_done(lab, table.name, options.refill_request_path(table.name))


def replay_table(lab: Lab, name: str) -> dict[str, Any]:
    """Put a table's dead letters into it, those that can be decoded now.

    Returns how many were `ingested`, `overtaken` by later records and are `still_bad`. Raises
    LabError (USAGE) where the table is fed from bronze, which holds nothing undecodable.
    """
    table = lab.table(name)
    if lab.config.silver.source == "bronze":
        raise LabError(
            f"{name} is fed from bronze files: a record that could not be decoded is not in them",
            hint=f"once bronze has it: labctl rebuild {name}",
            exit_code=ExitCode.USAGE,
        )
    _ask(lab, table.name, "replay")
    options = silver.options(lab.context(lab.service(silver.SERVICE.name)))
    state = _wait_until_done(lab, table.name, options.replay_request_path(table.name))
    result: dict[str, Any] | None = state.get("last_replay")
    if result is None:
        raise LabError(
            f"The Spark application was restarted while it replayed {name}: it is done, and what "
            "it did is not known",
            hint=f"labctl deadletters list {name}",
        )
    if result["error"]:
        raise LabError(f"The dead letters of {name} were not replayed: {result['error']}")
    return result


def register_tables(lab: Lab, names: Sequence[str] = ()) -> list[str]:
    """Register tables (all, when none is named) in Hive's metastore; those that it has now.

    Raises LabError when one of them cannot be registered.
    """
    tables = [lab.table(name).name for name in names] or [table.name for table in lab.tables]
    for name in tables:
        _ask(lab, name, "register")
    return [name for name in tables if _is_registered(lab, name)]


def _is_registered(lab: Lab, name: str) -> bool:
    """Wait until a table is registered. False for a table without a commit."""
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
    """The dead letters of `lab`."""
    store = lab.endpoints.objectstore
    options = silver.options(lab.context(lab.service(silver.SERVICE.name)))
    folder = options.dead_letter_base_path.removeprefix(f"s3a://{store.bucket}/")
    return DeadLetters(LakeStorage.of(store), folder)


def _exists(lab: Lab, path: str) -> bool:
    store = lab.endpoints.objectstore
    key = path.removeprefix(f"s3a://{store.bucket}/")
    listed = s3_client(store).list_objects_v2(Bucket=store.bucket, Prefix=key)
    return any(entry["Key"] == key for entry in listed.get("Contents", []))


def _state(lab: Lab, name: str) -> dict[str, Any]:
    """The table's state; while the application restarts, that of a table that starts."""
    try:
        state: dict[str, Any] = silver_status(lab)["tables"][name]
    except requests.RequestException:
        return {"state": "starting"}
    return state
