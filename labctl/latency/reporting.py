"""Building a run's report from its ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from labctl.lab.lab import Lab
from labctl.lab.observe.service_status import service_versions
from labctl.latency.environment import describe
from labctl.latency.latency_plan import Kind
from labctl.latency.latency_report import Counts, RunReport, ServiceUsage, StoreUsage, TableRun
from labctl.latency.ledger import Ledger, Trace
from labctl.latency.load import Load
from labctl.latency.outage import OutageMaker
from labctl.latency.preparing import PreparedLab
from labctl.latency.scenario import Scenario
from labctl.latency.shadow_tables import type_of
from labctl.latency.statistics import hops_of, samples_of, seconds_of
from labctl.latency.targets import Target

__all__ = ["Finding", "Taken", "compose"]

_CLOCKS = {
    "committed": "this program, when the database had answered the commit; microseconds",
    "captured": "Kafka Connect, when Debezium made the event (record header __ts_us); microseconds",
    "bronze": "the object store, LastModified of the object; milliseconds on MinIO, seconds on S3",
    "hudi": "the Spark application, completion time on the table's timeline; milliseconds",
    "queryable": "this program, when the query that shows the change had answered; it "
    "asks when the store reports a commit, or every 20 ms where the store does not",
}


@dataclass(frozen=True)
class Taken:
    """The resources that a run used, and the conditions it ran in."""

    services: list[ServiceUsage] | None
    measuring_cpu_seconds: float | None
    object_store: StoreUsage | None
    outage: OutageMaker | None
    machine_load: tuple[float, float, float]
    """Load average over the last 1, 5 and 15 minutes before the first change."""


@dataclass(frozen=True)
class Finding:
    """The result of the last check of a silver table."""

    repeated: int
    """Number of rows beyond one per key."""
    missing: int
    """Rows that are missing or older than their last change."""
    wrong: int
    """Rows as new as their last change that hold another number."""

    @classmethod
    def of(cls, target: Target, rows: pa.Table, ledger: Ledger) -> Finding:
        """Compare `rows` (key, number, offset) with each row's last change."""
        last = {k: t for (table, k), t in ledger.last_of_rows().items() if table == target.silver}
        keys, numbers, offsets = (
            rows.column(n).to_pylist() for n in (target.key, target.number, "__kafka_offset")
        )
        times: Counter[int] = Counter(key for key in keys if key in last)
        held = {
            key: (str(number).strip(), offset)
            for key, number, offset in zip(keys, numbers, offsets, strict=True)
            if key in last
        }
        missing = wrong = 0
        for key, trace in last.items():
            number, offset = held.get(key, ("", None))
            if trace.offset is None or offset is None or offset < trace.offset:
                missing += 1
            elif trace.change.kind is not Kind.DELETE and number != str(trace.change.number):
                wrong += 1
        return cls(sum(times.values()) - len(times), missing, wrong)


def compose(
    lab: Lab,
    at: PreparedLab,
    name: str,
    scenario: Scenario,
    load: Load,
    seed: int,
    ledger: Ledger,
    taken: Taken,
    findings: Sequence[Finding],
    *,
    producer_time: bool,
) -> RunReport:
    """Return the report of a run. `lab` is the lab as configured, `at` as prepared for the run."""
    traces = ledger.traces
    begin = min((t.begun for t in traces), default=0.0)
    last_commit = max((t.committed for t in traces), default=begin)
    last_seen = max((t.queryable or t.committed for t in traces), default=begin)
    measured = [t for t in traces if t.change.kind is Kind.READ or t.change.number > load.warm_up]
    counts = _counts(ledger, findings)
    store = taken.object_store
    fault = taken.outage.fault(begin) if taken.outage else None
    return RunReport(
        name=name,
        scenario=scenario,
        lab=lab.name,
        profile=lab.profile,
        environment=describe(lab.project, service_versions(lab), taken.machine_load),
        seed=seed,
        source=at.source,
        tables=[_table_run(target) for target in load.targets],
        clocks=_clocks(producer_time=producer_time),
        one_clock=lab.config.profiles[lab.profile].runtime == "native",
        started_at=datetime.fromtimestamp(begin, UTC).isoformat(timespec="milliseconds"),
        seconds=round(last_seen - begin, 3),
        warm_up=load.warm_up,
        counts=counts,
        committed_per_second=_per_second(len(traces), last_commit - begin),
        queryable_per_second=_per_second(counts.queryable, last_seen - begin),
        hops=hops_of(measured, at.source),
        services=taken.services,
        measuring_cpu_seconds=taken.measuring_cpu_seconds,
        object_store=store,
        requests_per_change=_per_change(store.pipeline.requests if store else None, traces),
        bytes_per_change=_per_change(
            store.pipeline.bytes_received + store.pipeline.bytes_sent if store else None, traces
        ),
        faults=[fault] if fault else [],
        timeline=seconds_of(measured, begin),
        samples=samples_of(measured, begin, at.source),
    )


def _counts(ledger: Ledger, findings: Sequence[Finding]) -> Counts:
    traces = ledger.traces
    not_in_silver = sum(t.queryable is None for t in traces)
    missing_rows = sum(finding.missing for finding in findings)
    lost = {
        "kafka": len(ledger.not_in_kafka()),
        "bronze": len(ledger.not_in_bronze()),
        # A row that a query returned once but that is missing at the end is also lost.
        "silver": max(not_in_silver, missing_rows),
    }
    again = {
        "kafka": sum(max(0, t.records - 1) for t in traces),
        "silver": sum(finding.repeated for finding in findings),
    }
    return Counts(
        written=len(traces),
        in_kafka=len(traces) - lost["kafka"],
        in_bronze=len(traces) - lost["bronze"],
        queryable=len(traces) - not_in_silver,
        lost=max(lost.values()),
        lost_in=lost,  # type: ignore[arg-type]
        duplicates=sum(again.values()),
        duplicates_in=again,  # type: ignore[arg-type]
        wrong=sum(finding.wrong for finding in findings),
    )


def _clocks(*, producer_time: bool) -> dict[str, str]:
    appended = (
        "Kafka Connect, when its producer took the record (CreateTime); milliseconds"
        if producer_time
        else "the Kafka broker, when it appended the record (LogAppendTime); milliseconds"
    )
    return {**_CLOCKS, "appended": appended}


def _table_run(target: Target) -> TableRun:
    return TableRun(
        table=target.silver,
        engine=target.engine,
        source_table=str(target.ref),
        topic=target.table.topic,
        table_type=type_of(target.table),
        number_column=target.number,
    )


def _per_second(count: int, seconds: float) -> float | None:
    return round(count / seconds, 1) if seconds > 0 else None


def _per_change(amount: int | None, traces: Sequence[Trace]) -> float | None:
    return None if amount is None or not traces else round(amount / len(traces), 2)
