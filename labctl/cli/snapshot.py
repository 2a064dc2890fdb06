"""`labctl snapshot`."""

from __future__ import annotations

import time
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.cli.progress import ConsoleProgress
from labctl.lab.lifecycle.up import up
from labctl.lab.snapshots import (
    Snapshot,
    delete_snapshot,
    find_snapshot,
    remove_leftovers,
    restore_snapshot,
    save_snapshot,
    snapshots,
)

__all__ = ["delete_command", "list_command", "restore_command", "save_command"]

app = group("snapshot")
NameArgument = Annotated[str, typer.Argument(help="Name of the snapshot.")]
_MIB = 1024**2


@command(app, "save", example="labctl snapshot save loaded")
def save_command(
    invocation: Invocation,
    name: NameArgument,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the snapshot of that name.")
    ] = False,
) -> None:
    """Save the databases, Kafka, the registry, the lake and every position at one point in time.

    A running lab pauses while its files are copied. Files that an earlier snapshot also has are
    stored once.
    """
    begun = time.monotonic()
    with stderr.status(f"saving snapshot {name!r}"):
        saved = save_snapshot(invocation.lab(), name, replace=replace)
    seconds = time.monotonic() - begun
    print_result(
        invocation.format,
        _data(saved) | {"seconds": round(seconds, 1)},
        lambda: (
            f"Saved {name!r}: {saved.size_bytes / _MIB:,.0f} MiB in {seconds:.1f} s. Go back to it "
            + invocation.addressed(f"with `labctl snapshot restore {name}`.")
        ),
    )


@command(app, "restore", example="labctl snapshot restore loaded --lab copy")
def restore_command(
    invocation: Invocation,
    name: NameArgument,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Restore one of someone else, which may run programs as you."),
    ] = False,
) -> None:
    """Replace the lab's data with a snapshot, and start the lab.

    With `--lab`, that lab becomes a copy; it is made if there is none. The snapshot is checked
    before anything is replaced. What the lab holds now is lost: save it first to keep it.
    """
    begun = time.monotonic()
    with stderr.status(f"checking and copying snapshot {name!r}"):
        restore_snapshot(invocation.lab(), find_snapshot(name), trusted=trust)
    lab = invocation.lab()
    with ConsoleProgress() as progress:
        up(lab, progress)
    seconds = time.monotonic() - begun
    print_result(
        invocation.format,
        {"snapshot": name, "lab": lab.name, "seconds": round(seconds, 1)},
        lambda: f"Lab {lab.name!r} is as in snapshot {name!r}, and up after {seconds:.1f} s",
    )


@command(app, "list", example="labctl snapshot list")
def list_command(invocation: Invocation) -> None:
    """List the snapshots on this machine, of all labs."""
    remove_leftovers()
    found = snapshots()
    print_result(
        invocation.format,
        {"snapshots": [_data(snapshot) for snapshot in found]},
        lambda: _listed(found),
    )


@command(app, "delete", example="labctl snapshot delete loaded")
def delete_command(invocation: Invocation, name: NameArgument) -> None:
    """Delete a snapshot. Labs, and other snapshots with the same files, keep theirs."""
    delete_snapshot(name)
    print_result(invocation.format, {"deleted": name}, lambda: f"Snapshot {name!r} is gone")


def _data(snapshot: Snapshot) -> dict[str, object]:
    return {
        "name": snapshot.name,
        "lab": snapshot.manifest.lab,
        "made_at": snapshot.manifest.made_at,
        "bytes": snapshot.size_bytes,
        "files": len(snapshot.manifest.files),
        "data_sets": sorted(snapshot.manifest.seeded),
        "folder": str(snapshot.folder),
    }


def _listed(found: list[Snapshot]) -> RenderableType:
    if not found:
        return "There are no snapshots; `labctl snapshot save NAME` makes one"
    table = Table(box=None, pad_edge=False)
    for title in ("snapshot", "lab", "saved", "data sets"):
        table.add_column(title)
    table.add_column("MiB", justify="right")
    for one in found:
        table.add_row(
            one.name,
            one.manifest.lab,
            f"{one.manifest.made_at.astimezone():%Y-%m-%d %H:%M:%S}",
            ", ".join(sorted(one.manifest.seeded)),
            f"{one.size_bytes / _MIB:,.0f}",
        )
    return table
