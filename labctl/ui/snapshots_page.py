"""Snapshots of labs: saved, restored into this lab, deleted."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from labctl.errors import ExitCode, LabError
from labctl.ui import fault_reading
from labctl.ui.asking import ask_lake
from labctl.ui.rendering import context_of, fields_of, page, part

__all__ = ["CHANGES", "change_snapshot", "snapshot_list", "snapshots_page"]

_SECONDS = 30.0
_CHANGE_SECONDS = 900.0
CHANGES = {
    "save": "was saved.",
    "restore": "was restored: the lab is as it was then.",
    "delete": "was deleted.",
}
"""Commands of `labctl snapshot`, and what the page says after each."""


async def snapshots_page(request: Request) -> Response:
    """Return the page; the list comes by `snapshot_list`."""
    command = "labctl snapshot list"
    return page(request, "snapshots.html.j2", active="snapshots", command=command)


async def snapshot_list(request: Request) -> Response:
    """Return the list of snapshots, with what can be done with each."""
    return await _list_part(request)


async def change_snapshot(request: Request) -> Response:
    """Save, restore or delete a snapshot as `labctl snapshot` does; return the list."""
    context = context_of(request)
    context.must_change()
    name = (await fields_of(request)).get("name", "").strip()
    if not name:
        raise LabError(
            "The snapshot needs a name", hint="type one, as 'loaded'", exit_code=ExitCode.USAGE
        )
    change = request.url.path.rpartition("/")[2]
    await context.labctl("snapshot", change, "--", name, seconds=_CHANGE_SECONDS)
    return await _list_part(request, done=f"{name} {CHANGES[change]}")


async def _list_part(request: Request, *, done: str | None = None) -> Response:
    found = await ask_lake(
        request, fault_reading.kept_snapshots, seconds=_SECONDS, what="the snapshots"
    )
    lab_name = request.app.state.lab_name
    return part(request, "snapshots_part.html.j2", snapshots=found, lab_name=lab_name, done=done)
