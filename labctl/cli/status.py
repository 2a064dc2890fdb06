"""`labctl status`."""

from __future__ import annotations

import time
from typing import Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result
from labctl.errors import ExitCode
from labctl.lab.pipeline import PipelineStatus, read_pipeline
from labctl.lab.status import LabStatus, read_status

__all__ = ["status_command"]

STYLES = {
    "ready": "green",
    "running": "green",
    "RUNNING": "green",
    "waiting": "yellow",
    "starting": "yellow",
    "restarting": "yellow",
    "retrying": "yellow",
    "failed": "bold red",
    "FAILED": "bold red",
    "stopped": "dim",
}
WRITERS = {"spark": "the Spark application", "connect": "the S3 sink connector"}


@command(root, "status", example="labctl status --output json")
def status_command(invocation: Invocation) -> None:
    """Show every service, connector and silver table. Exits 0 when all are usable, else 3."""
    lab = invocation.lab()
    status = read_status(lab)
    pipeline = read_pipeline(lab) if status.running else PipelineStatus([], [], None)
    data: dict[str, Any] = {**vars(status), **vars(pipeline)}
    print_result(invocation.format, data, lambda: _render(status, pipeline))
    if not status.ready:
        raise typer.Exit(int(ExitCode.NOT_READY))


def _render(status: LabStatus, pipeline: PipelineStatus) -> RenderableType:
    parts: list[RenderableType] = [_services(status)]
    if pipeline.connectors:
        parts += ["", _connectors(pipeline)]
    if pipeline.tables:
        parts += ["", _tables(pipeline)]
    if pipeline.bronze_writer:
        parts += ["", f"bronze is written by {WRITERS[pipeline.bronze_writer]}"]
    total = sum(service.memory_bytes for service in status.services)
    parts += ["", f"lab {status.lab} · profile {status.profile} · {total / 1024**3:.2f} GiB"]
    return Group(*parts)


def _services(status: LabStatus) -> Table:
    table = _table("service", "state", "what", "pid", "up for", "memory", "restarts")
    for service in status.services:
        died = ""
        if service.restarts and service.last_death_at:
            died = f"{service.restarts} (last {_ago(service.last_death_at)} ago)"
        table.add_row(
            service.name,
            Text(service.state, style=STYLES[service.state]),
            service.detail,
            str(service.pid or ""),
            _ago(service.started_at) if service.started_at else "",
            f"{service.memory_bytes / 1024**2:.0f} MiB" if service.memory_bytes else "",
            died,
        )
    return table


def _connectors(pipeline: PipelineStatus) -> Table:
    table = _table("connector", "state", "tasks")
    for connector in pipeline.connectors:
        table.add_row(
            connector.name,
            Text(connector.state, style=STYLES.get(connector.state, "")),
            ", ".join(connector.tasks) or "none",
        )
    return table


def _tables(pipeline: PipelineStatus) -> Table:
    table = _table("silver table", "state", "type", "last commit", "error")
    for silver in pipeline.tables:
        table.add_row(
            silver.name,
            Text(silver.state, style=STYLES.get(silver.state, "")),
            silver.table_type,
            silver.last_commit_instant or "none yet",
            silver.error or "",
        )
    return table


def _table(*titles: str) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in titles:
        table.add_column(title)
    return table


def _ago(at: float) -> str:
    seconds = int(time.time() - at)
    if seconds < 120:
        return f"{seconds} s"
    if seconds < 7200:
        return f"{seconds // 60} min"
    return f"{seconds // 3600} h"
