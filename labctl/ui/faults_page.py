"""Faults to cause, above the pipeline that shows what they do."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from labctl.errors import ExitCode, LabError
from labctl.ui import fault_reading
from labctl.ui.asking import ask_lake
from labctl.ui.rendering import context_of, fields_of, page, part

__all__ = ["cause_fault", "fault_form", "faults_page"]

_SECONDS = 30.0
_MOST_SECONDS = 120
"""The longest fault that the page causes."""
_RECOVERY_SECONDS = 600.0
"""Seconds that a lab may take to come up again after a fault."""


async def faults_page(request: Request) -> Response:
    """Return the page; the form comes by `fault_form`, the pipeline as on the first page."""
    command = "labctl test fault --help"
    return page(request, "faults.html.j2", active="faults", command=command)


async def fault_form(request: Request) -> Response:
    """Return the form with the kinds of faults and the services."""
    found = await ask_lake(request, fault_reading.choices, seconds=_SECONDS, what="the lab")
    return part(request, "fault_form_part.html.j2", choices=found, most=_MOST_SECONDS)


async def cause_fault(request: Request) -> Response:
    """Cause a fault as `labctl test fault` does; answer when it is over."""
    context = context_of(request)
    context.must_change()
    fields = await fields_of(request)
    try:
        seconds = int(fields.get("seconds", ""))
    except ValueError:
        seconds = 0
    if not 1 <= seconds <= _MOST_SECONDS:
        raise LabError(
            f"A fault of the page lasts 1 to {_MOST_SECONDS} seconds",
            hint="labctl test fault, for a longer one",
            exit_code=ExitCode.USAGE,
        )
    words = [fields.get("kind", ""), *filter(None, [fields.get("service")])]
    await context.labctl(
        *("test", "fault", "--seconds", str(seconds), "--", *words),
        seconds=seconds + _RECOVERY_SECONDS,
    )
    return part(request, "done_part.html.j2", words=f"{' '.join(words)}: over.")
