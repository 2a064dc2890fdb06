"""`labctl topics`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.cli.records import CountOption, WhereOption, print_records, wanted_fields
from labctl.errors import ExitCode, LabError
from labctl.kafka.schema_versions import SchemaVersion, SchemaVersions
from labctl.kafka.topic_records import TopicInfo, Topics, parse_start
from labctl.lab.lab import Lab

__all__ = ["list_command", "schemas_command", "show_command"]

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
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="From there on, oldest first: PARTITION:OFFSET, or a time as for --as-of.",
        ),
    ] = None,
    count: CountOption = 1,
) -> None:
    """Show the newest records of a topic, or those from a place or a time on."""
    topics = _topics(invocation.lab())
    wanted = wanted_fields(where)
    if start is not None:
        if wanted:
            raise LabError(
                "--from and --where cannot be combined",
                hint="--where searches from the newest record backwards",
                exit_code=ExitCode.USAGE,
            )
        print_records(invocation, topics.since(topic, parse_start(start), count))
    elif wanted:
        print_records(invocation, topics.find(topic, wanted, limit=count))
    else:
        print_records(invocation, topics.tail(topic, count))


@command(app, "schemas", example="labctl topics schemas tickit.ecomm.sale")
def schemas_command(
    invocation: Invocation, topic: Annotated[str, typer.Argument(help="Which topic.")]
) -> None:
    """List the versions of a topic's schema, newest first, with what each changed."""
    registry = invocation.lab().require_running().endpoints.registry
    versions = SchemaVersions(registry).of_topic(topic)
    print_result(
        invocation.format,
        {"topic": topic, "versions": [asdict(version) for version in versions]},
        lambda: _render_versions(versions),
    )


def _render_versions(versions: list[SchemaVersion]) -> Table:
    table = Table(box=None, pad_edge=False)
    for title in ("version", "since", "global id", "fields", "changes"):
        table.add_column(title)
    for one in versions:
        cells = (str(one.version), f"{one.created:%Y-%m-%d %H:%M:%S}", str(one.global_id))
        table.add_row(*cells, str(len(one.fields)), "\n".join(one.changes) or "none")
    return table


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
