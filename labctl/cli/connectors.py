"""`labctl connectors`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.apply import validate_connectors
from labctl.kafkaconnect.client import ConnectClient
from labctl.kafkaconnect.files import ConnectorFile
from labctl.kafkaconnect.opening import connect_client
from labctl.kafkaconnect.traces import cause
from labctl.lab.connectors import (
    apply_and_wait,
    delete_connector,
    is_running,
    lab_files,
    snapshot_again,
    wait_running,
)
from labctl.lab.lab import Lab
from labctl.lab.starting_over import apply_anew

__all__ = ["app"]

app = group("connectors")
Name = Annotated[str, typer.Argument(help="The connector: its file's name without .json.")]
Names = Annotated[list[str] | None, typer.Argument(help="Which connectors [default: all].")]


@command(app, "list", example="labctl connectors list")
def list_command(invocation: Invocation) -> None:
    """List the connectors this lab's runtime applies, and those Connect runs."""
    lab, client = _open(invocation)
    running = set(client.names())
    files = {file.name for file in lab_files(lab)}
    rows = [
        {"name": name, "file": name in files, "applied": name in running}
        for name in sorted(files | running)
    ]
    print_result(
        invocation.format,
        {"connectors": rows},
        lambda: _table(
            ("connector", "file", "applied"),
            [(str(r["name"]), _yes(r["file"]), _yes(r["applied"])) for r in rows],
        ),
    )


@command(app, "apply", example="labctl connectors apply")
def apply_command(
    invocation: Invocation,
    names: Names = None,
    anew: Annotated[
        bool,
        typer.Option(
            "--anew",
            help="Then load every table again, and write silver and bronze from that alone: for "
            "a Kafka that has lost its data.",
        ),
    ] = False,
) -> None:
    """Create or update connectors from their files; each is validated by Connect first.

    With --anew, time travel begins again, and the old bronze files are moved to the folder
    `retired`.
    """
    lab, _ = _open(invocation)
    if anew and names:
        raise LabError(
            "--anew is for all connectors: Kafka has lost what it had of each",
            hint=f"of one: labctl connectors snapshot {names[0]} --anew",
            exit_code=ExitCode.USAGE,
        )
    if anew:
        with stderr.status("every table is loaded again"):
            applied = apply_anew(lab)
    else:
        applied = apply_and_wait(lab, _selected(lab, names))
    print_result(
        invocation.format,
        {"connectors": applied},
        lambda: _table(("connector", "change"), [(a.name, a.change) for a in applied]),
    )


@command(app, "validate", example="labctl connectors validate")
def validate_command(invocation: Invocation, names: Names = None) -> None:
    """Check the files' keys, and have Connect check their values. Changes nothing."""
    lab, client = _open(invocation)
    files = _selected(lab, names)
    validate_connectors(client, files, lab.config.connectors.allow)
    print_result(
        invocation.format,
        {"valid": [file.name for file in files]},
        lambda: Group(*(f"{file.name}: valid" for file in files)),
    )


@command(app, "status", example="labctl connectors status")
def status_command(invocation: Invocation, names: Names = None) -> None:
    """Show each connector's and task's state. Exits 3 unless all run."""
    _, client = _open(invocation)
    statuses = {name: client.status(name) for name in names or client.names()}
    print_result(invocation.format, statuses, lambda: _render_status(statuses))
    if not all(is_running(status) for status in statuses.values()):
        raise typer.Exit(int(ExitCode.NOT_READY))


@command(
    app, "restart", example="labctl connectors restart source_connector_mysql_kafka_avro_tickit"
)
def restart_command(invocation: Invocation, name: Name) -> None:
    """Restart a connector and its tasks; it goes on where it was."""
    _, client = _open(invocation)
    _require(client, name)
    client.act(name, "restart")
    wait_running(client, [name], restarted=True)
    print_result(invocation.format, {"restarted": name}, lambda: f"{name}: running")


@command(app, "delete", example="labctl connectors delete source_connector_mysql_kafka_avro_tickit")
def delete_command(invocation: Invocation, name: Name) -> None:
    """Remove a connector from Connect. Its file and topics stay.

    Its stored position stays too, but PostgreSQL's, whose replication slot is dropped: applied
    again, that connector loads every table again.
    """
    lab, client = _open(invocation)
    _require(client, name)
    gone = delete_connector(lab, name)
    print_result(
        invocation.format,
        {"deleted": name, "with": gone},
        lambda: f"{name}: {' and '.join(['deleted', *gone])}",
    )


@command(
    app, "snapshot", example="labctl connectors snapshot source_connector_mysql_kafka_avro_tickit"
)
def snapshot_command(
    invocation: Invocation,
    name: Name,
    anew: Annotated[
        bool,
        typer.Option(
            "--anew",
            help="Empty its topics first, and write its tables and bronze from the snapshot alone.",
        ),
    ] = False,
) -> None:
    """Have a source connector load every table again, and go on from there.

    For a connector that was away longer than its database keeps its log. Rows that were deleted
    meanwhile stay in silver: `labctl verify` lists them. With --anew they go too, and so does the
    past: time travel begins again, and the old bronze files are moved to the folder `retired`.
    """
    lab, client = _open(invocation)
    _require(client, name)
    if name not in {source.connector for source in lab.config.sources.values()}:
        raise LabError(
            f"{name} is not a source connector of this lab",
            hint="labctl connectors list",
            exit_code=ExitCode.USAGE,
        )
    with stderr.status(f"{name} loads its tables again"):
        snapshot_again(lab, name, anew=anew)
    print_result(invocation.format, {"snapshot": name}, lambda: f"{name}: loads its tables again")


@command(
    app, "offsets", example="labctl connectors offsets source_connector_mysql_kafka_avro_tickit"
)
def offsets_command(invocation: Invocation, name: Name) -> None:
    """Show how far into its database's log a connector is."""
    _, client = _open(invocation)
    _require(client, name)
    offsets = client.offsets(name)
    print_result(
        invocation.format,
        {"connector": name, "offsets": offsets},
        lambda: Group(
            *(f"{key}: {value}" for entry in offsets for key, value in entry["offset"].items())
        ),
    )


def _open(invocation: Invocation) -> tuple[Lab, ConnectClient]:
    lab = invocation.lab().require_running()
    return lab, connect_client(lab.endpoints.connect)


def _selected(lab: Lab, names: list[str] | None) -> list[ConnectorFile]:
    files = lab_files(lab)
    if not names:
        return files
    known = {file.name: file for file in files}
    if unknown := [name for name in names if name not in known]:
        raise LabError(
            f"There is no connector file {unknown[0]}.json for this lab",
            hint=f"there are: {', '.join(known)}",
            exit_code=ExitCode.USAGE,
        )
    return [known[name] for name in names]


def _require(client: ConnectClient, name: str) -> None:
    running = client.names()
    if name not in running:
        raise LabError(
            f"Kafka Connect has no connector {name!r}",
            hint=f"it has: {', '.join(running)}"
            if running
            else "apply with `labctl connectors apply`",
            exit_code=ExitCode.USAGE,
        )


def _render_status(statuses: dict[str, dict[str, Any]]) -> RenderableType:
    rows: list[tuple[str, ...]] = []
    notes: list[str] = []
    for name, status in statuses.items():
        tasks = status["tasks"]
        states = ", ".join(f"{t['id']} {t['state']}" for t in tasks)
        rows.append((name, status["connector"]["state"], states))
        notes += [f"{name}/{t['id']}: {cause(t['trace'], name)}" for t in tasks if "trace" in t]
    return Group(_table(("connector", "state", "tasks"), rows), *notes)


def _table(titles: tuple[str, ...], rows: list[tuple[str, ...]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title)
    for row in rows:
        table.add_row(*row)
    return table


def _yes(value: object) -> str:
    return "yes" if value else "no"
