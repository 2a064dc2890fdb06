"""`labctl connectors`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command, group
from labctl.cli.backfill import backfill_command
from labctl.cli.confirming import YesOption, confirm
from labctl.cli.importing import FolderArgument, ForceOption, WriteOption, finish
from labctl.cli.output import print_result, stderr
from labctl.errors import ExitCode, LabError
from labctl.importing import import_connectors, open_project
from labctl.kafkaconnect.apply import (
    applied_config,
    runs_otherwise,
    setting_changes,
    validate_connectors,
)
from labctl.kafkaconnect.conflicts import check_apart
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.connector_files import ConnectorFile, read_connector
from labctl.kafkaconnect.keys import missing_truncates
from labctl.kafkaconnect.opening import connect_client
from labctl.kafkaconnect.traces import cause
from labctl.lab.connectors.connector_states import (
    apply_and_wait,
    check_files,
    check_sink_files,
    delete_connector,
    is_running,
    lab_files,
    snapshot_again,
    wait_running,
)
from labctl.lab.connectors.failed_capture import why_failed
from labctl.lab.connectors.reference_keys import offered_keys
from labctl.lab.connectors.source_files import source_files
from labctl.lab.connectors.source_refusals import look_at_sources
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.starting_over import apply_and_start_over
from lakecontract.references import reference

__all__ = ["app"]

app = group("connectors")
Name = Annotated[str, typer.Argument(help="The connector: its file's name without .json.")]
Names = Annotated[list[str] | None, typer.Argument(help="Which connectors [default: all].")]


@command(app, "list", example="labctl connectors list")
def list_command(invocation: Invocation) -> None:
    """List the connectors this lab's runtime applies, and those Connect runs.

    `differs`: Connect runs another configuration than the file has; `connectors diff` shows it.
    """
    lab, client = _open(invocation)
    running = set(client.names())
    files = {file.name: file for file in lab_files(lab)}
    rows = [
        {
            "name": name,
            "file": name in files,
            "applied": name in running,
            "differs": name in files and runs_otherwise(client, files[name]),
        }
        for name in sorted(files.keys() | running)
    ]
    print_result(
        invocation.format,
        {"connectors": rows},
        lambda: _table(
            ("connector", "file", "applied"),
            [
                (
                    str(r["name"]),
                    _yes(r["file"]),
                    "yes, another configuration" if r["differs"] else _yes(r["applied"]),
                )
                for r in rows
            ],
        ),
    )


@command(app, "diff", example="labctl connectors diff source_connector_mysql_kafka_avro_tickit")
def diff_command(invocation: Invocation, names: Names = None) -> None:
    """Show what `apply` would change of the connectors that Connect runs."""
    lab, client = _open(invocation)
    found = {}
    for file in _selected(lab, names):
        found[file.name] = setting_changes(client.config(file.name) or {}, applied_config(file))
    print_result(invocation.format, found, lambda: _render_diff(found))


@command(app, "apply", example="labctl connectors apply")
def apply_command(
    invocation: Invocation,
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Which connectors, or paths of connector files [default: all]."),
    ] = None,
    start_over: Annotated[
        bool,
        typer.Option(
            "--start-over",
            help="Then load every table again, and write silver and bronze from that alone: for "
            "a Kafka that has lost its data.",
        ),
    ] = False,
) -> None:
    """Create or update connectors from their files; each is validated by Connect first.

    With --start-over, time travel starts again, and the old bronze files are moved to the folder
    `retired`.
    """
    lab, _ = _open(invocation)
    if start_over and names:
        raise LabError(
            "--start-over is for all connectors: Kafka has lost what it had of each",
            hint=f"of one: labctl connectors snapshot {names[0]} --start-over",
            exit_code=ExitCode.USAGE,
        )
    if start_over:
        with stderr.status("every table is loaded again"):
            applied = apply_and_start_over(lab)
    else:
        files = _selected(lab, names)
        _tell_older_keys(files)
        _tell_missing(files)
        applied = apply_and_wait(lab, files)
    print_result(
        invocation.format,
        {"connectors": applied},
        lambda: Group(
            _table(("connector", "change"), [(a.name, a.change) for a in applied]),
            *(Text(sentence) for a in applied for sentence in a.without_table),
        ),
    )


@command(app, "validate", example="labctl connectors validate")
def validate_command(invocation: Invocation, names: Names = None) -> None:
    """Check the files' keys, and have Connect check their values. Changes nothing.

    Also that each of their tables can be captured; without names also that each table is captured
    by its connector and written by a sink.
    """
    lab, client = _open(invocation)
    files = _selected(lab, names)
    if not names:
        check_files(lab)
        check_sink_files(lab)
    _tell_older_keys(files)
    _tell_missing(files)
    refusals = look_at_sources(lab, files, skip_unreachable=True)
    refusals.raise_limits()
    validate_connectors(client, files, lab.config.connectors.allow)
    refusals.raise_unfit()
    print_result(
        invocation.format,
        {"valid": [file.name for file in files]},
        lambda: Group(*(f"{file.name}: valid" for file in files)),
    )


@command(app, "status", example="labctl connectors status")
def status_command(invocation: Invocation, names: Names = None) -> None:
    """Show each connector's and task's state. Exits with 3 unless all run."""
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
    lab, client = _open(invocation)
    _require(client, name)
    client.act(name, "restart")
    wait_running(client, [name], restarted=True, explain=partial(why_failed, lab))
    print_result(invocation.format, {"restarted": name}, lambda: f"{name}: running")


@command(app, "delete", example="labctl connectors delete source_connector_mysql_kafka_avro_tickit")
def delete_command(invocation: Invocation, name: Name, yes: YesOption = False) -> None:
    """Remove a connector from Connect. Its file and topics stay.

    Its stored position stays too. PostgreSQL's does not, because the replication slot is dropped:
    when that connector is applied again, it loads every table again.
    """
    lab, client = _open(invocation)
    _require(client, name)
    confirm(f"Delete connector {name!r} and end its capture?", yes=yes)
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
    start_over: Annotated[
        bool,
        typer.Option(
            "--start-over",
            help="Empty its topics first, and write its tables and bronze from the snapshot alone.",
        ),
    ] = False,
) -> None:
    """Have a source connector load every table again, and go on from there.

    For a connector that was away longer than its database keeps its log. Rows that were deleted
    meanwhile stay in silver: `labctl verify` lists them. --start-over removes them too. Time travel
    then starts again, and the old bronze files are moved to the folder `retired`.
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
        snapshot_again(lab, name, start_over=start_over)
    print_result(invocation.format, {"snapshot": name}, lambda: f"{name}: loads its tables again")


command(app, "backfill", example='labctl connectors backfill sale --where "qtysold > 4"')(
    backfill_command
)


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


@command(app, "secrets", example="labctl connectors secrets")
def secrets_command(invocation: Invocation) -> None:
    """List what connector files may refer to, by secret and key. No value is shown."""
    offered = offered_keys(invocation.lab().config)
    found = {
        secret: {key: reference(secret, key) for key in keys}
        for secret, keys in sorted(offered.items())
    }
    print_result(
        invocation.format,
        found,
        lambda: Group(*(ref for keys in found.values() for ref in keys.values())),
    )


@command(app, "import", example="labctl connectors import ~/kafka_connect --write")
def import_command(
    invocation: Invocation,
    folder: FolderArgument,
    write: WriteOption = False,
    force: ForceOption = False,
) -> None:
    """Bring in connector files that were written for another Kafka Connect or an older Debezium.

    Shows each file's difference and why, what to decide first, and what lab.toml needs. Nothing is
    written without --write, and nothing with it while something is left to decide.
    """
    project = open_project()
    finish(invocation, import_connectors(folder, project), project, write=write, force=force)


def _open(invocation: Invocation) -> tuple[Lab, ConnectClient]:
    lab = invocation.lab().require_running()
    return lab, connect_client(lab.endpoints.connect)


def _selected(lab: Lab, names: list[str] | None) -> list[ConnectorFile]:
    """Return the lab's connector files by name, and other files by their paths."""
    files = lab_files(lab)
    if not names:
        return files
    known = {file.name: file for file in files}
    chosen = [known.get(name) or _elsewhere(lab, name) for name in names]
    names_chosen = {file.name for file in chosen}
    others = [file for file in source_files(lab) if file.name not in names_chosen]
    check_apart([*others, *chosen])
    return chosen


def _elsewhere(lab: Lab, name: str) -> ConnectorFile:
    """Return the connector file at a path. Raise LabError (USAGE) where there is none."""
    if name.endswith(".json") or "/" in name:
        return read_connector(Path(name))
    raise LabError(
        f"There is no connector file {name}.json for this lab",
        hint=f"there are: {', '.join(file.name for file in lab_files(lab))}; of another file, give "
        "its path",
        exit_code=ExitCode.USAGE,
    )


def _tell_older_keys(files: list[ConnectorFile]) -> None:
    for file in files:
        for sentence in file.older_keys:
            stderr.print(Text(sentence))


def _tell_missing(files: list[ConnectorFile]) -> None:
    for file in files:
        for sentence in missing_truncates(file.config):
            stderr.print(Text(f"{file.path.name}: {sentence}"))


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


def _render_diff(found: dict[str, dict[str, dict[str, str | None]]]) -> RenderableType:
    lines: list[RenderableType] = []
    for name, keys in found.items():
        lines.append(Text(f"{name}: {'no difference' if not keys else ''}".rstrip(": "), "bold"))
        for key, values in keys.items():
            if values["applied"] is not None:
                lines.append(Text(f"- {key}: {values['applied']}", "red"))
            if values["file"] is not None:
                lines.append(Text(f"+ {key}: {values['file']}", "green"))
    return Group(*lines)


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
