"""`labctl topics`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.cli.records import CountOption, WhereOption, print_records, wanted_fields
from labctl.kafka.topic_records import TopicInfo, Topics
from labctl.lab.lab import Lab

__all__ = ["list_command", "show_command"]

app = group("topics")


@command(app, "list", example="labctl topics list")
def list_command(
    invocation: Invocation,
    internal: Annotated[bool, typer.Option("--internal", help="Kafka's own too.")] = False,
) -> None:
    """List the topics and how many records each holds."""
    topics = _topics(invocation.lab()).topics(internal=internal)
    print_result(invocation.format, {"topics": topics}, lambda: _render(topics))


@command(app, "show", example="labctl topics show tickit.ecomm.sale --where salesid=200")
def show_command(
    invocation: Invocation,
    topic: Annotated[str, typer.Argument(help="Which topic.")],
    where: WhereOption = None,
    count: CountOption = 1,
) -> None:
    """Show the newest records of a topic."""
    topics = _topics(invocation.lab())
    wanted = wanted_fields(where)
    if wanted:
        print_records(invocation, topics.find(topic, wanted, limit=count))
    else:
        print_records(invocation, topics.tail(topic, count))


def _topics(lab: Lab) -> Topics:
    endpoints = lab.require_running().endpoints
    return Topics(endpoints.kafka, endpoints.registry)


def _render(topics: list[TopicInfo]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("topic", "partitions", "records"):
        table.add_column(title, justify="left" if title == "topic" else "right")
    for topic in topics:
        table.add_row(topic.name, str(topic.partitions), f"{topic.records:,}")
    return table
