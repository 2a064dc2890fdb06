"""`labctl client source`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.sources import connect

__all__ = ["source_command"]


@command(
    group("client"),
    "source",
    example='labctl client source mysql "SELECT count(*) FROM sale"',
)
def source_command(
    invocation: Invocation,
    source: Annotated[str, typer.Argument(help="Which source of lab.toml.", show_default=False)],
    sql: Annotated[str, typer.Argument(help="One statement in its SQL.", show_default=False)],
) -> None:
    """Run one statement at a source of any engine, as the owner of the lab's sources.

    It is committed. Rows have no names: an engine's own client shows those.
    """
    lab = invocation.lab().require_running()
    with connect(lab.endpoints, source) as database:
        rows = [[_plain(value) for value in row] for row in database.execute(sql)]

    def text() -> Table | str:
        table = Table(box=None, show_header=False, pad_edge=False)
        for row in rows:
            table.add_row(*map(str, row))
        return table if rows else "done; it returned no rows"

    print_result(invocation.format, {"rows": rows}, text)


def _plain(value: object) -> object:
    if isinstance(value, bytes | bytearray | memoryview):
        return bytes(value).hex()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
