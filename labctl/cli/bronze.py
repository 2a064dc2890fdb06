"""`labctl bronze`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.cli.records import CountOption, WhereOption, print_records, wanted_fields
from labctl.lab.bronze import lab_bronze
from labctl.lake.bronze import BronzeObject

__all__ = ["list_command", "show_command"]

app = group("bronze")
TopicArgument = Annotated[str, typer.Argument(help="Which topic.")]


@command(app, "list", example="labctl bronze list tickit.ecomm.sale --count 5")
def list_command(invocation: Invocation, topic: TopicArgument, count: CountOption = 20) -> None:
    """List a topic's bronze files, the newest first."""
    objects = lab_bronze(invocation.lab().require_running()).objects(topic)
    print_result(invocation.format, {"objects": objects[:count]}, lambda: _render(objects, count))


@command(app, "show", example="labctl bronze show tickit.ecomm.sale --where salesid=200")
def show_command(
    invocation: Invocation, topic: TopicArgument, where: WhereOption = None, count: CountOption = 1
) -> None:
    """Show the newest records of a topic's bronze files, and the file each is in."""
    bronze = lab_bronze(invocation.lab().require_running())
    print_records(invocation, bronze.find(topic, wanted_fields(where), limit=count))


def _render(objects: list[BronzeObject], count: int) -> Group:
    table = Table(box=None, pad_edge=False)
    for title in ("object", "bytes", "written"):
        table.add_column(title, justify="right" if title == "bytes" else "left", overflow="fold")
    for entry in objects[:count]:
        written = entry.modified.isoformat(timespec="milliseconds") if entry.modified else ""
        table.add_row(entry.path, f"{entry.size:,}", written)
    return Group(table, f"{min(count, len(objects))} of {len(objects)} files")
