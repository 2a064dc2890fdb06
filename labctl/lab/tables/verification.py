"""Comparison of every source table of the lab with its silver table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa

from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import TopicEnds
from labctl.kafkaconnect.column_filters import is_taken
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.capture_instances import instances_now, note_instances
from labctl.lab.connectors.capture_progress import Capture
from labctl.lab.connectors.restored_sources import forget_restored
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.lab.tables.in_flight import StoppedTables, tables_behind
from labctl.lake import Lake
from labctl.runtimes.runtime_protocols import SupervisorTimeoutError
from labctl.sources import Source, TableRef
from labctl.tables import LabTable
from labctl.verify import (
    Captured,
    State,
    TableVerdict,
    UnavailableError,
    VerifyReport,
    open_pairs,
    verify,
)

__all__ = ["source_capture", "verify_lab"]

CONNECT_SECONDS = 5.0
"""Seconds that Kafka Connect may take to answer before it counts as silent."""


def verify_lab(
    lab: Lab,
    names: Sequence[str] = (),
    *,
    timeout: float = 60.0,
    patience: float = 10.0,
    on_verdict: Callable[[TableVerdict], None] = lambda _: None,
    on_wait: Callable[[TableVerdict], None] = lambda _: None,
) -> VerifyReport:
    """Compare all tables (or those called `names`) by key and content.

    Waits at most `timeout` seconds for changes on their way: in the source's log before its
    connector, or in the topic before silver. A table that has no changes on their way, and in which
    nothing moves for `patience` seconds, counts as different. So does a table whose changes a
    failed part keeps from arriving.
    """
    tables = [lab.table(name) for name in names] or lab.tables
    by_name = {table.name: table for table in tables}
    lake = Lake(lab.endpoints.objectstore)
    is_here = lab.promoted is None

    def read_silver(name: str) -> pa.Table | None:
        try:
            return lake.read(name) if lake.has_commit(name) else None
        except OSError as error:
            raise UnavailableError("objectstore", f"the object store: {error}") from None
        except LabError as error:
            if error.exit_code is not ExitCode.NOT_READY:
                raise
            raise UnavailableError("objectstore", error.what) from None

    stopped = StoppedTables(lab)
    instances = instances_now(lab, tables)

    def in_flight(name: str) -> int | None:
        # On AWS the Spark application cannot be asked.
        if not lab.endpoints.silver.status_url:
            return None
        return tables_behind(lab, ends, [by_name[name]])[name]

    with (
        TopicEnds(lab.endpoints.kafka) as ends,
        open_pairs(
            lab.endpoints,
            [_captured(lab, table) for table in tables],
            read_silver,
            in_flight=in_flight,
            stopped=lambda name: stopped.why(by_name[name]),
            capture=lambda name, source: source_capture(lab, name, source),
        ) as pairs,
    ):
        report = verify(
            pairs,
            timeout=timeout,
            patience=patience,
            comes_back=lambda part: not is_here or _comes_back(lab, part),
            on_verdict=on_verdict,
            on_wait=on_wait,
        )
    equal = {verdict.silver for verdict in report.tables if verdict.state is State.EQUAL}
    note_instances(lab, {name: now for name, now in instances.items() if name in equal})
    for source in lab.config.sources.values():
        own = {t.name for t in lab.tables if lab.config.sources[t.source] is source}
        if own <= equal:
            forget_restored(lab, source.connector)
    return report


def _captured(lab: Lab, table: LabTable) -> Captured:
    ref = TableRef(table.db_schema, table.source_name)
    config = source_file(lab, table.source).config
    return Captured(table.source, ref, silver=table.name, takes=partial(is_taken, config, ref))


def source_capture(lab: Lab, name: str, source: Callable[[], Source]) -> Capture:
    """Return the progress of the connector of the source `name`.

    `source` returns an open connection to its server.
    """
    return Capture(
        connect_client(lab.endpoints.connect, seconds=CONNECT_SECONDS),
        source_file(lab, name),
        source,
    )


def _comes_back(lab: Lab, part: str) -> bool:
    """Return whether a silent service may recover by itself: it was not stopped or given up."""
    try:
        state = lab.runtime.states().get(part)
    except SupervisorTimeoutError:
        return True
    return state is not None and state.state not in ("STOPPED", "FATAL")
