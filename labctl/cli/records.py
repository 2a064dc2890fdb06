"""Showing change records, of a topic or a bronze file."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import RenderableType

from labctl.cli.app import Invocation
from labctl.cli.output import print_result
from labctl.cli.rows import rows_table
from labctl.errors import ExitCode, LabError
from labctl.lake.records import Record, to_table

__all__ = ["CountOption", "WhereOption", "print_records", "wanted_fields"]

WhereOption = Annotated[
    list[str] | None, typer.Option("--where", help="Only records with this field: name=value.")
]
CountOption = Annotated[int, typer.Option("--count", "-n", min=1, help="How many at most.")]


def wanted_fields(key: list[str] | None) -> dict[str, object]:
    """`name=value` pairs as a mapping. Raises LabError (USAGE) for what is no pair."""
    fields: dict[str, object] = {}
    for pair in key or ():
        name, separator, value = pair.partition("=")
        if not separator or not name:
            raise LabError(
                f"{pair!r} is not name=value",
                hint="write --where salesid=200",
                exit_code=ExitCode.USAGE,
            )
        fields[name] = value
    return fields


def print_records(invocation: Invocation, records: list[Record], *, lacking: str = "") -> None:
    """Print `records` in the order given; one as a list of its fields.

    `lacking` says which records could not be among them; it is shown if there are none.
    """

    def render() -> RenderableType:
        return rows_table(to_table(records)) if records else f"no such record{lacking}"

    print_result(invocation.format, {"records": records}, render)
