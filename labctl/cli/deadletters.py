"""`labctl topics deadletters`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Group, RenderableType
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result, stderr
from labctl.cli.records import CountOption
from labctl.errors import ExitCode, LabError
from labctl.kafka.topic_records import Place
from labctl.lab.lab import Lab
from labctl.lab.tables.table_requests import lab_dead_letters, replay_table
from labctl.lake.deadletters import DeadLetter, decoded
from labctl.lake.schemas import Schemas

__all__ = ["list_command", "replay_command", "show_command"]

app = group("deadletters")
TableArgument = Annotated[str, typer.Argument(help="Which silver table.")]


@command(app, "list", example="labctl topics deadletters list sale")
def list_command(
    invocation: Invocation,
    names: Annotated[
        list[str] | None, typer.Argument(help="Which silver tables [default: all].")
    ] = None,
    replayed: Annotated[
        bool, typer.Option("--replayed", help="Those that were put back, instead of the others.")
    ] = False,
    count: CountOption = 20,
) -> None:
    """List the records that wait, by table: where each is, why, and since when."""
    lab = invocation.lab().require_running()
    tables = [lab.table(name) for name in names or ()] or lab.tables
    letters = lab_dead_letters(lab)
    found = {t.name: letters.of_topic(t.topic, replayed=replayed) for t in tables}
    print_result(
        invocation.format,
        {
            "tables": [
                {"table": name, "count": len(of), "records": [_brief(one) for one in of[:count]]}
                for name, of in found.items()
            ]
        },
        lambda: _listed(found, count),
    )


@command(app, "show", example="labctl topics deadletters show sale 0:4711")
def show_command(
    invocation: Invocation,
    table: TableArgument,
    place: Annotated[str, typer.Argument(help="PARTITION:OFFSET, as `list` shows it.")],
) -> None:
    """Show one record: as much of its key and value as can be read, and why no more can."""
    lab = invocation.lab().require_running()
    letter = _find(lab, table, place)
    shown = _brief(letter) | {
        "table": table,
        "written_at": letter.written_at,
        "replayed": letter.replayed,
        **decoded(letter, Schemas(lab.endpoints.registry)),
        "value_hex": None if letter.value is None else letter.value.hex(),
    }
    print_result(invocation.format, shown, lambda: _shown(shown))


@command(app, "replay", example="labctl topics deadletters replay sale && labctl verify sale")
def replay_command(invocation: Invocation, table: TableArgument) -> None:
    """Put a table's records into it that can be read now, once the cause is fixed.

    Each goes to its own place in the order of its topic: a row that a later record has changed or
    deleted stays as it is. What still cannot be read goes on waiting, with the reason it has now.
    Bronze does not get them: after `labctl table rebuild` they wait again.
    """
    lab = invocation.lab().require_running()
    with stderr.status(f"putting the dead letters of {table} into it"):
        result = replay_table(lab, table)
    print_result(
        invocation.format,
        {"table": table, **result},
        lambda: (
            f"{table}: {result['ingested']} put into it, {result['overtaken']} overtaken by later "
            f"records, {result['still_bad']} still wait"
        ),
    )


def _find(lab: Lab, table: str, place: str) -> DeadLetter:
    if (at := Place.parse(place)) is None:
        raise LabError(
            f"{place!r} is no place of a record",
            hint="write PARTITION:OFFSET, as `labctl topics deadletters list` shows it",
            exit_code=ExitCode.USAGE,
        )
    letters, topic = lab_dead_letters(lab), lab.table(table).topic
    for replayed in (False, True):
        for letter in letters.of_topic(topic, replayed=replayed):
            if (letter.partition, letter.offset) == (at.partition, at.offset):
                return letter
    raise LabError(
        f"{table} has no dead letter at {place}",
        hint=f"labctl topics deadletters list {table}",
        exit_code=ExitCode.USAGE,
    )


def _brief(letter: DeadLetter) -> dict[str, Any]:
    fields = asdict(letter)
    return {
        name: fields[name] for name in ("topic", "partition", "offset", "put_aside_at", "reason")
    }


def _listed(found: dict[str, list[DeadLetter]], count: int) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    for title in ("table", "record", "put aside", "reason"):
        table.add_column(title, overflow="fold")
    notes = []
    for name, letters in found.items():
        for one in letters[:count]:
            place = f"{one.partition}:{one.offset}"
            table.add_row(name, place, f"{one.put_aside_at:%Y-%m-%d %H:%M:%S}", one.reason)
        if len(letters) > count:
            notes.append(f"{name}: {count} of {len(letters):,}")
    return Group(table, *notes) if any(found.values()) else "no dead letters"


def _shown(shown: dict[str, Any]) -> RenderableType:
    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in shown.items():
        if isinstance(value, dict):
            table.add_row(name, "")
            for field, content in value.items():
                table.add_row(f"  {field}", str(content))
        elif value is not None:
            table.add_row(name, str(value))
    return table
