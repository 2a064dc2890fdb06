"""Comparing tables in the lab: by the product, and by the independent comparison."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import requests

from labctl.conformance.case_sql import Script
from labctl.conformance.row_comparison import differences, read_silver, read_source
from labctl.conformance.stage import Stage
from labctl.errors import LabError
from labctl.kafka.offsets import TopicEnds
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.busy import when_busy
from labctl.lab.observe.pipeline_state import HELD_UP, silver_status
from labctl.lab.tables.in_flight import tables_behind
from labctl.lab.tables.table_requests import lab_dead_letters
from labctl.lab.tables.verification import verify_lab
from labctl.sources import Source
from labctl.sources.base import TableRef
from labctl.tables import LabTable
from labctl.verify import TableVerdict

__all__ = ["independent_differences", "letters_of", "settled", "silver_states", "verified"]

_PATIENCE = 4.0
_VERIFY_SECONDS = 90.0
_ALONE_SECONDS = 15.0
_HELD_SECONDS = 3.0
_STILL_SECONDS = 40.0
"""Seconds without progress after which no table will progress, on a machine that is not busy."""
_POLL_SECONDS = 0.5


def settled(stage: Stage, names: Sequence[str]) -> set[str]:
    """Wait until each table has read its whole topic or is held up; return those held up.

    A table that only retries may still continue, so it counts as held up only after a while. Also
    return once nothing has moved for long; the comparison then reports what is missing.
    """
    tables = {table.name: table for table in stage.own_tables() if table.name in names}
    held_since: dict[str, float] = {}
    before: dict[str, int] | None = None
    moved = time.monotonic()
    with TopicEnds(stage.lab.endpoints.kafka) as ends:
        while True:
            states = silver_states(stage)
            try:
                behind = tables_behind(stage.lab, ends, tables.values())
            except LabError:
                # The application or Kafka does not answer while it restarts after a fault.
                behind = dict.fromkeys(tables, 1)
            now = time.monotonic()
            for name in tables:
                if states.get(name):
                    held_since.setdefault(name, now)
            if behind != before:
                before, moved = behind, now
            waiting = {name for name, records in behind.items() if records}
            # Between two tries, a table is not reported as held up, but it makes no progress.
            long = {name for name, first in held_since.items() if now - first > _HELD_SECONDS}
            held = waiting & long
            if waiting <= held or now - moved > when_busy(_STILL_SECONDS):
                return held
            time.sleep(_POLL_SECONDS)


def silver_states(stage: Stage) -> Mapping[str, Mapping[str, object]]:
    """Return the Spark application's status of tables that are held up; {} for the others."""
    try:
        tables: Mapping[str, Mapping[str, object]] = silver_status(stage.lab)["tables"]
    except requests.RequestException:
        return {}
    return {name: state if state["state"] in HELD_UP else {} for name, state in tables.items()}


def verified(
    lab: Lab, names: Sequence[str], *, seconds: float = _VERIFY_SECONDS
) -> tuple[dict[str, TableVerdict], dict[str, str]]:
    """Return verify's verdicts by table, and its error for each table on which it crashes.

    One table's values may crash the whole comparison. Each table is then compared on its own.
    """
    if not names:
        return {}, {}
    try:
        report = verify_lab(lab, names, timeout=when_busy(seconds), patience=when_busy(_PATIENCE))
    except Exception as error:
        if len(names) == 1:
            return {}, {names[0]: repr(error)}
        parts = [verified(lab, [name], seconds=_ALONE_SECONDS) for name in names]
        return (
            {name: verdict for found, _ in parts for name, verdict in found.items()},
            {name: reason for _, crashed in parts for name, reason in crashed.items()},
        )
    return {verdict.silver: verdict for verdict in report.tables}, {}


def independent_differences(
    lab: Lab,
    source: Source,
    script: Script,
    tables: tuple[TableRef, str],
    left_out: Sequence[str],
) -> list[str]:
    """Return the differences that the second comparison finds between the source and silver.

    `left_out` names columns that are not captured.
    """
    ref, silver_name = tables
    forms: dict[str, Any] = {
        script.names[n]: form
        for n, form in script.forms.items()
        if n in script.names and script.names[n] not in left_out
    }
    keys = [script.names[key] for key in script.case.keys]
    if any(forms[key] is None for key in keys):
        return []
    try:
        rows = read_source(source, ref, forms, keys)
        silver = read_silver(lab.endpoints.objectstore, silver_name, forms, keys)
    except Exception as error:
        # An error of a reader is also a difference.
        return [f"cannot be read: {error}"[:300]]
    return differences(rows, silver)


def letters_of(lab: Lab, table: LabTable) -> list[str]:
    """Return the reasons why records of a table's topic were put aside."""
    try:
        return [letter.reason for letter in lab_dead_letters(lab).of_topic(table.topic)]
    except (LabError, FileNotFoundError):
        return []
