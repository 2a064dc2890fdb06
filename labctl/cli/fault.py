"""`labctl test fault`."""

from __future__ import annotations

from typing import Annotated

import typer

from labctl.cli.app import Invocation, command, group
from labctl.cli.output import print_result
from labctl.errors import ExitCode, LabError
from labctl.soak.faulting import FaultKind, PlannedFault, fitting_kinds, inject

__all__ = ["fault_command"]

_KINDS = f"What happens: {'; '.join(f'{kind} {kind.explanation}' for kind in FaultKind)}."


@command(group("test"), "fault", example="labctl test fault pause kafka --seconds 20")
def fault_command(
    invocation: Invocation,
    kind: Annotated[FaultKind, typer.Argument(help=_KINDS, show_default=False)],
    service: Annotated[
        str | None, typer.Argument(help="To which service; to the whole lab without one.")
    ] = None,
    seconds: Annotated[
        float, typer.Option(min=0.1, max=600, help="How long, unless it is over at once.")
    ] = 10.0,
) -> None:
    """Cause one fault in the running lab, and end when it is over. Ctrl-C ends the fault, too."""
    lab = invocation.lab().require_running()
    if kind.of_one_service != (service is not None):
        needs = (
            "needs a service" if service is None else "is of the whole lab, and takes no service"
        )
        raise LabError(
            f"The fault {kind} {needs}",
            hint=f"labctl test fault {kind}{' SERVICE' if service is None else ''}",
            exit_code=ExitCode.USAGE,
        )
    if not fitting_kinds(lab, [kind]):
        raise LabError(
            f"The fault {kind} cannot be caused in this lab's runtime",
            hint="labctl test fault --help",
            exit_code=ExitCode.USAGE,
        )
    if service is not None:
        lab.service(service)
    fault = PlannedFault(kind, service or "lab", seconds if kind.lasts else 0.0)
    inject(lab, fault)
    print_result(invocation.format, fault, lambda: f"{fault}: over. Next: labctl status")
