"""`labctl tools api demo`: what `make demo-api` runs."""

from __future__ import annotations

from labctl.cli.app import Invocation
from labctl.cli.output import print_result, stderr
from labctl.cli.progress import ConsoleProgress
from labctl.lab.catalog.lake_api_switch import api_of, switch_on

__all__ = ["demo_command"]

WARM_UP = 3
"""Changes made before the one that is shown: a JVM's first commits are its slowest."""


def demo_command(invocation: Invocation) -> None:
    """Switch the lake API on, change a row at its source, and ask until the API shows it."""
    from labctl.latency.api_change import make_api_change
    from labctl.latency.change import followed_row

    lab = invocation.lab()
    row = followed_row(lab)
    with ConsoleProgress() as progress:
        switch_on(lab, progress)
    lab = invocation.lab()
    with stderr.status(f"changing a row of {row.table}"):
        for _ in range(WARM_UP):
            make_api_change(lab, row)
        changed = make_api_change(lab, row)
    swagger = api_of(lab).swagger
    source = lab.table_of(row.table)
    place = f"{source.db_schema}.{source.source_name}"
    words = (
        f"{row.column} of {place} {row.value} was changed in {source.engine}. "
        f"GET {changed.path} showed {changed.field} {changed.before}, and {changed.after} "
        f"{changed.seconds:.2f} s after the commit, in answer number {changed.requests}.\n"
        f"All that it answers: {swagger}\n"
        + invocation.addressed(
            "Next: labctl tools api load --mix · labctl tools api cache keys"
            " · labctl tools api down"
        )
    )
    print_result(invocation.format, {"swagger": swagger, "change": changed}, lambda: words)
