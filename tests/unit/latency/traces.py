"""Traces and reports made up for tests: plain numbers whose figures can be worked out by hand."""

from __future__ import annotations

from labctl.config.lab_config import SilverSource
from labctl.latency.environment import Environment
from labctl.latency.latency_plan import Change, Kind
from labctl.latency.latency_report import Counts, Fault, RunReport, TableRun
from labctl.latency.ledger import Trace
from labctl.latency.scenario import Changes, Scenario
from labctl.latency.statistics import hops_of, samples_of, seconds_of

__all__ = ["BEGIN", "report", "trace"]

BEGIN = 1_000.0


def trace(number: int, *, at: float, took: float) -> Trace:
    """A change committed `at` seconds after the begin and queryable after `took` seconds."""
    committed = BEGIN + at
    return Trace(
        "sale",
        Change(number, Kind.UPDATE, number),
        begun=committed - 0.01,
        committed=committed,
        captured=committed + took * 0.1,
        appended=committed + took * 0.2,
        offset=number,
        bronze=committed + took * 2,
        hudi=committed + took * 0.9,
        queryable=committed + took,
        records=1,
    )


def report(
    traces: list[Trace], *, source: SilverSource = "kafka", lost: int = 0, name: str = "idle"
) -> RunReport:
    """A report of a run with these traces."""
    return RunReport(
        name=name,
        scenario=Scenario(title="Made up", tables=("sale",), changes=Changes(count=len(traces))),
        lab="tickit",
        profile="native",
        environment=Environment(
            at="2026-01-01T00:00:00+00:00",
            commit="abc",
            cores=2,
            memory_gib=24.0,
            load_1_5_15=(0.0, 0.0, 0.0),
            platform="Linux",
            python="3.11",
            services={"kafka": "Kafka 4.1.1"},
        ),
        seed=1,
        source=source,
        tables=[
            TableRun(
                table="sale",
                engine="mysql",
                source_table="ecomm.sale",
                topic="tickit.ecomm.sale",
                table_type="mor",
                number_column="listid",
            )
        ],
        clocks={"committed": "this program"},
        one_clock=True,
        started_at="2026-01-01T00:00:00.000+00:00",
        seconds=10.0,
        warm_up=0,
        counts=Counts(
            written=len(traces),
            in_kafka=len(traces),
            in_bronze=len(traces),
            queryable=len(traces) - lost,
            lost=lost,
            lost_in={"kafka": 0, "bronze": 0, "silver": lost},
            duplicates=0,
            duplicates_in={"kafka": 0, "silver": 0},
            wrong=0,
        ),
        committed_per_second=1.0,
        queryable_per_second=1.0,
        hops=hops_of(traces, source),
        services=None,
        measuring_cpu_seconds=None,
        object_store=None,
        requests_per_change=None,
        bytes_per_change=None,
        faults=[Fault(service="silver", begin=1.0, end=2.5)],
        timeline=seconds_of(traces, BEGIN),
        samples=samples_of(traces, BEGIN, source),
    )
