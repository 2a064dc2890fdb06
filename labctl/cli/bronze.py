"""`labctl topics bronze`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from rich.console import Group
from rich.text import Text

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.cli.records import CountOption, WhereOption, print_records, wanted_fields
from labctl.counted import counted
from labctl.errors import ExitCode
from labctl.lab.tables.bronze_folders import lab_bronze
from labctl.lab.tables.table_requests import lab_dead_letters
from labctl.lake.bronze_check import BronzeFlaw, check_bronze
from labctl.lake.bronze_records import BronzeObject
from lakecontract.bronze_beginning import Beginning

__all__ = ["check_command", "list_command", "show_command"]

app = group("bronze")
TopicArgument = Annotated[str, typer.Argument(help="Which topic.")]


@command(app, "list", example="labctl topics bronze list tickit.ecomm.sale --count 5")
def list_command(invocation: Invocation, topic: TopicArgument, count: CountOption = 20) -> None:
    """List a topic's bronze files, the newest first."""
    bronze = lab_bronze(invocation.lab().require_running())
    objects, begins = bronze.objects(topic), bronze.beginning(topic)
    print_result(
        invocation.format,
        {"objects": objects[:count], "begins": begins},
        lambda: _render(objects, count, begins),
    )


@command(app, "show", example="labctl topics bronze show tickit.ecomm.sale --where salesid=200")
def show_command(
    invocation: Invocation, topic: TopicArgument, where: WhereOption = None, count: CountOption = 1
) -> None:
    """Show the newest records of a topic's bronze files, and the file each is in."""
    bronze = lab_bronze(invocation.lab().require_running())
    found = bronze.find(topic, wanted_fields(where), limit=count)
    begins = None if found else bronze.beginning(topic)
    lacking = f": {_begins_text(topic, begins)}" if begins else ""
    print_records(invocation, found, lacking=lacking)


@command(app, "check", example="labctl topics bronze check tickit.ecomm.sale")
def check_command(
    invocation: Invocation,
    topics: Annotated[
        list[str] | None, typer.Argument(help="Which topics [default: all that have files].")
    ] = None,
) -> None:
    """Read every bronze file, and name those that are damaged, and records that are in none.

    Exits 4 if there are any.
    """
    lab = invocation.lab().require_running()
    bronze = lab_bronze(lab)
    # On AWS dead letters cannot be seen from here: what they leave out shows as missing.
    letters = lab_dead_letters(lab) if lab.endpoints.silver.status_url else None
    found = {}
    for topic in topics or bronze.topics():
        with stderr.status(f"reading the bronze files of {topic}"):
            aside = [
                (letter.partition, letter.offset)
                for replayed in (False, True)
                for letter in (letters.of_topic(topic, replayed=replayed) if letters else ())
            ]
            found[topic] = check_bronze(bronze, topic, elsewhere=aside)
    begins = {topic: begin for topic in found if (begin := bronze.beginning(topic))}
    data = {
        "topics": {t: [vars(flaw) for flaw in flaws] for t, flaws in found.items()},
        "begins": begins,
    }
    tables = {table.topic: table.name for table in lab.tables}
    print_result(invocation.format, data, lambda: _render_flaws(found, begins, tables, invocation))
    if any(found.values()):
        raise typer.Exit(int(ExitCode.DIFFERENT))


def _render_flaws(
    found: Mapping[str, Sequence[BronzeFlaw]],
    begins: Mapping[str, Beginning],
    tables: Mapping[str, str],
    invocation: Invocation,
) -> Group:
    removed = [Text(_begins_text(topic, begin)) for topic, begin in begins.items()]
    lines = [f"{flaw.place}: {flaw.reason}" for flaws in found.values() for flaw in flaws]
    repairs = [
        invocation.addressed(f"labctl table rebuild {tables[topic]} --from-topic")
        for topic, flaws in found.items()
        if flaws and topic in tables
    ]
    if not lines:
        return Group(f"the bronze files of {counted(len(found), 'topic', 'are')} whole", *removed)
    return Group(
        *map(Text, lines),
        *removed,
        "If a topic still has every row, write its table and bronze again from it:",
        *map(Text, repairs),
    )


def _begins_text(topic: str, beginning: Beginning) -> str:
    return (
        f"bronze of {topic} begins at {beginning}: older files were removed (lake.retention); "
        f"everything written since {beginning.since} is there"
    )


def _render(objects: list[BronzeObject], count: int, begins: Beginning | None = None) -> Group:
    """Write a line per file. Its name is last and in one piece, to be copied into commands."""
    shown = objects[:count]
    sizes = [f"{entry.size:,}" for entry in shown]
    width = max(map(len, ["bytes", *sizes]))
    lines = [f"{'written':<29}  {'bytes':>{width}}  object"]
    for entry, size in zip(shown, sizes, strict=True):
        written = entry.modified.isoformat(timespec="milliseconds") if entry.modified else ""
        lines.append(f"{written:<29}  {size:>{width}}  {entry.path}")
    removed = [Text(_begins_text(objects[0].topic, begins))] if begins else []
    return Group(*map(Text, lines), f"{len(shown)} of {counted(len(objects), 'file')}", *removed)
