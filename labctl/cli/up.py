"""`labctl up`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from labctl.cli.addresses import addresses, addresses_table
from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.cli.progress import ConsoleProgress
from labctl.lab.connectors.key_remarks import remarks_on_keys
from labctl.lab.lab import Lab, remarks_on_forms
from labctl.lab.lifecycle.up import Started, up

__all__ = ["up_command"]


@command(root, "up", example="labctl up --lab second")
def up_command(
    invocation: Invocation,
    services: Annotated[
        list[str] | None, typer.Argument(help="Only these, and what they need [default: all].")
    ] = None,
) -> None:
    """Start the lab: fetch what is missing, start every service, wait until each is usable."""
    lab = invocation.lab()
    for sentence in (*remarks_on_keys(lab), *remarks_on_forms(lab)):
        stderr.print(Text(sentence))
    with ConsoleProgress() as progress:
        started = up(lab, progress, services or ())
    data = {
        "lab": lab.name,
        "seconds": round(started.seconds, 1),
        "services": {
            name: {"version": version, "urls": addresses(lab)[name]}
            for name, version in started.versions.items()
        },
        "secrets": str(lab.state.secrets),
        "schemas": list(started.schemas),
        "connectors": list(started.connectors),
        "tables": list(started.tables),
        "started": list(started.started),
    }
    print_result(invocation.format, data, lambda: _render(invocation, lab, started))


def _render(invocation: Invocation, lab: Lab, started: Started) -> RenderableType:
    own = [f"{one.source}: {one.what} applied" for one in started.schemas]
    own += [f"{one.name}: {one.change}" for one in started.connectors if one.change != "unchanged"]
    own += [f"{name}: runs by its changed properties" for name in started.tables]
    own += [sentence for one in started.connectors for sentence in one.without_table]
    if started.is_unchanged:
        said = f"Lab {lab.name!r} is up; nothing had to be started. labctl status --addresses"
        return Group(*own, invocation.addressed(said))
    seeded = "labctl seed · " if lab.config.data_sets else ""
    return Group(
        addresses_table(lab),
        "",
        *own,
        f"Lab {lab.name!r} is up after {started.seconds:.1f} s.",
        f"Credentials: {lab.state.secrets}",
        invocation.addressed('Clients: eval "$(labctl client env)"'),
        invocation.addressed(f"Next: {seeded}labctl status · labctl ui · labctl down"),
    )
