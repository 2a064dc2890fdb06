"""Having a silver table written anew from its bronze files."""

from __future__ import annotations

import time

import requests

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.pipeline import silver_status
from labctl.lake.objectstore import s3_client
from labctl.services import silver

__all__ = ["rebuild_table"]

POLL_SECONDS = 0.2
TIMEOUT_SECONDS = 600.0


def rebuild_table(lab: Lab, name: str) -> float:
    """Rebuild one table; the others go on. Returns the seconds it took.

    The request is kept in the lake until it is fulfilled: should the application die on the way,
    it takes it up again. Raises LabError when the application refuses or gives up.
    """
    table = lab.table(name)
    begun = time.monotonic()
    url = f"{lab.endpoints.silver.status_url}/tables/{table.name}/rebuild"
    try:
        requests.post(url, timeout=10).raise_for_status()
    except requests.RequestException as error:
        raise LabError(
            f"The Spark application did not take the request to rebuild {name}: {error}",
            hint="labctl status",
            exit_code=ExitCode.NOT_READY,
        ) from None
    while _requested(lab, name):
        state = _state(lab, name)
        if state["state"] == "failed":
            raise LabError(f"{name} was not rebuilt: {state['error']}", hint="labctl logs silver")
        if time.monotonic() - begun > TIMEOUT_SECONDS:
            raise LabError(
                f"{name} is still not rebuilt after {TIMEOUT_SECONDS:.0f} s; it goes on",
                hint="labctl status, labctl logs silver",
            )
        time.sleep(POLL_SECONDS)
    return time.monotonic() - begun


def _requested(lab: Lab, name: str) -> bool:
    """Whether the request is still there."""
    context = lab.context(lab.service(silver.SERVICE.name))
    store = lab.endpoints.objectstore
    path = silver.options(context).rebuild_request_path(name)
    key = path.removeprefix(f"s3a://{store.bucket}/")
    listed = s3_client(store).list_objects_v2(Bucket=store.bucket, Prefix=key)
    return any(entry["Key"] == key for entry in listed.get("Contents", []))


def _state(lab: Lab, name: str) -> dict[str, str]:
    """The table's state; while the application restarts, that of a table that starts."""
    try:
        state: dict[str, str] = silver_status(lab)["tables"][name]
    except requests.RequestException:
        return {"state": "starting"}
    return state
