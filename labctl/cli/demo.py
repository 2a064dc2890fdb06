"""`labctl demo`: what `make demo` runs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace

from rich.console import Group

from labctl.cli.addresses import addresses_table
from labctl.cli.app import Invocation, command, root
from labctl.cli.output import print_result, stderr
from labctl.cli.progress import ConsoleProgress
from labctl.cli.rows import rows_table
from labctl.cli.seed import seed_summary
from labctl.cli.verify import verify_exit_code, verify_summary
from labctl.counted import counted
from labctl.errors import LabError
from labctl.lab.catalog.athena_connection import connection_of
from labctl.lab.connectors.connector_states import apply_and_wait
from labctl.lab.lifecycle.seeding import Seeded, seed_lab
from labctl.lab.lifecycle.up import up
from labctl.lab.tables.verification import verify_lab
from labctl.latency.change import followed_row, make_change

__all__ = ["demo_command", "next_steps"]

WARM_UP = 3
"""Changes made before the one that is shown: a JVM's first commits are its slowest."""
SNAPSHOT_SECONDS = 600.0


@command(root, "demo", example="labctl demo")
def demo_command(invocation: Invocation) -> None:
    """Start the lab, seed it, change a row at its source and read it back from the lake."""
    begun = time.monotonic()
    lab = invocation.lab()
    row = followed_row(lab)
    early: list[Seeded] = []

    def load(usable: Mapping[str, str]) -> None:
        """While a part that takes minutes is still being made."""
        if all(source.engine in usable for source in lab.config.sources.values()):
            early.append(seed_lab(lab, connect=False))

    with ConsoleProgress() as progress:
        started = up(lab, progress, meanwhile=load)
    _say(f"every service is usable after {started.seconds:.1f} s")
    with stderr.status("loading the data set into the databases"):
        if early:
            seeded = replace(early[0], connectors=tuple(apply_and_wait(lab)))
        else:
            seeded = seed_lab(lab)
    loaded = time.monotonic()
    _say(f"{counted(seeded.rows, 'row', 'are')} in the databases after {seeded.seconds:.1f} s")
    with stderr.status("waiting for the snapshot to reach silver"):
        report = verify_lab(lab, timeout=SNAPSHOT_SECONDS)
    if not report.equal:
        raise LabError(
            "After the first load not every table is known to be equal",
            hint="`labctl verify` says which and why, `labctl status` what is not running",
            exit_code=verify_exit_code(report),
        )
    snapshot_seconds = time.monotonic() - loaded
    _say(f"every row is in silver, compared by content, {snapshot_seconds:.1f} s after loading")
    with stderr.status(f"changing a row of {row.table}"):
        for _ in range(WARM_UP):
            make_change(lab, row)
        changed = make_change(lab, row)
    sql = f"SELECT * FROM {changed.table} WHERE {row.key} = {row.value}"  # noqa: S608
    data = {
        "lab": lab.name,
        "up_seconds": round(started.seconds, 1),
        "rows": seeded.rows,
        "snapshot_seconds": round(snapshot_seconds, 1),
        "change": changed,
        "seconds": round(time.monotonic() - begun, 1),
    }

    def render() -> Group:
        from labctl.lake import Lake

        found = Lake(lab.endpoints.objectstore).query(sql)
        return Group(
            seed_summary(seeded),
            "",
            verify_summary(report),
            "",
            rows_table(found),
            "",
            addresses_table(lab),
            "",
            f"In {changed.table} {row.value}, {row.column} went from {changed.before} to "
            f"{changed.after} at the source and was read back from Hudi "
            f"{changed.seconds:.2f} s after its commit.",
            f"The whole demo took {time.monotonic() - begun:.0f} s. The lab is running.",
            f"boto3, the AWS CLI and other clients of AWS find {connection_of(lab).place}.",
            "",
            *map(invocation.addressed, next_steps(sql, changed.instant)),
        )

    print_result(invocation.format, data, render)


def next_steps(sql: str, instant: str) -> tuple[str, ...]:
    """Return the commands to type next; `sql` reads the row that changed after `instant`."""
    return (
        "Next:",
        f'  .venv/bin/labctl athena shell -c "{sql}"',
        f'  .venv/bin/labctl query "{sql}" --as-of {instant}',
        "  .venv/bin/labctl verify",
        "  .venv/bin/labctl status",
        "  .venv/bin/labctl ui",
        "  make demo-api",
        "Stop it with `.venv/bin/labctl down`; its data stays. "
        "`.venv/bin/labctl destroy` removes it completely.",
    )


def _say(words: str) -> None:
    stderr.print(words, highlight=False)
