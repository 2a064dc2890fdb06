"""`labctl client kafka`."""

from __future__ import annotations

from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, group
from labctl.cli.passing_on import PassedOn, become
from labctl.cli.progress import ConsoleProgress
from labctl.lab.clients.kafka_tools import KAFKA_TOOLS, kafka_tool

__all__ = ["kafka_command"]

_TOOLS = f"Which tool: {', '.join(KAFKA_TOOLS)}."


@command(
    group("client"),
    "kafka",
    example="labctl client kafka console-consumer --topic tickit.ecomm.sale --from-beginning",
    passes_on=True,
)
def kafka_command(
    invocation: Invocation,
    tool: Annotated[str, typer.Argument(help=_TOOLS, show_default=False)],
    arguments: PassedOn = None,
) -> None:
    """Run one of Kafka's own tools on the lab's Kafka.

    The tools are those of the scripts in Kafka's bin folder: `labctl client kafka topics --list`,
    `labctl client kafka consumer-groups --all-groups --describe`. labctl adds the address and
    the login. Change records are Avro: `labctl topics show` decodes them.
    """
    lab = invocation.lab().require_running()
    with ConsoleProgress() as progress:
        program = kafka_tool(lab, tool, arguments or (), progress)
    become(program, ())
