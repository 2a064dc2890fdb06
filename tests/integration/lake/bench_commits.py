"""What thousands of small commits leave in the memory of the process that makes them.

`python -m tests.integration.lake.bench_commits COMMITS FILE` commits one row after the other into a
merge-on-read table on the local disk, with compaction and cleaning beside, and notes in FILE
(JSON), 20 times on the way, how much of the JVM's heap is in use after a collection.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import psutil
from pyspark.sql import SparkSession

from labctl.artifacts import ArtifactStore
from labctl.json_text import to_json
from labctl.lake import Lake, LakeStorage
from labctl.lake.spark_queries import SparkEngine
from labctl.lake.spark_session import SparkLake
from labctl.latency.environment import Environment, describe
from lakecontract.properties import load_tables
from lakehouse.hudi import HudiTable
from lakehouse.maintenance import Maintenance

PROJECT = Path(__file__).parents[3]
PROPERTIES = PROJECT / "spark" / "properties" / "tickit.ecomm.sale.properties"
LOOKS = 20
ROWS = 1_000


@dataclass(frozen=True)
class Look:
    """One look at the process."""

    commits: int
    heap_mib: float
    """In use after a collection."""
    threads: int
    """Of the JVM."""
    process_mib: float
    """Unique set size of the JVM's process."""
    seconds: float
    """A commit's, on average since the last look."""


@dataclass(frozen=True)
class CommitFigures:
    environment: Environment
    direct: int
    """Commits that were made without Spark's writer."""
    looks: list[Look]


def main() -> None:
    commits, path = int(sys.argv[1]), Path(sys.argv[2])
    load = psutil.getloadavg()
    store = ArtifactStore()
    store.fetch(["spark-packages", "jre"])
    engine = SparkEngine(store.spark_jars(), store.java())
    with TemporaryDirectory() as folder:
        lake = Lake(LakeStorage.local(Path(folder)))
        with SparkLake(lake, engine) as opened:
            direct, looks = _commit(opened.session, f"{Path(folder).as_uri()}/silver", commits)
    figures = CommitFigures(describe(PROJECT, {}, load), direct, looks)
    path.write_text(to_json(figures) + "\n", encoding="utf-8")


def _commit(spark: SparkSession, base: str, commits: int) -> tuple[int, list[Look]]:
    (config,) = load_tables([PROPERTIES])
    table = HudiTable(spark, config, base)
    maintenance = Maintenance(spark)
    maintenance.start()
    columns = "salesid int, note string, __kafka_partition int, __kafka_offset long"
    first = [(number, "x", 0, number) for number in range(ROWS)]
    table.commit(spark.createDataFrame(first, columns), ROWS, {0: ROWS}, topic_id="bench")
    maintenance.opened(table, table.state())
    direct, looks, begun = 0, [_look(spark, 0, 0.0)], time.monotonic()
    for number in range(1, commits + 1):
        offset = ROWS + number
        row = [(number % ROWS, f"row {number}", 0, offset)]
        frame = spark.createDataFrame(row, columns)
        before = table._small._writer
        table.commit(frame, 1, {0: offset + 1}, topic_id="bench")
        direct += before is not None and table._small._writer is before
        maintenance.committed(table, 1, rewrite=False)
        if number % max(1, commits // LOOKS) == 0:
            each = (time.monotonic() - begun) / max(1, commits // LOOKS)
            looks.append(_look(spark, number, each))
            print(looks[-1], flush=True)
            begun = time.monotonic()
    maintenance.stop()
    return direct, looks


def _look(spark: SparkSession, commits: int, seconds: float) -> Look:
    jvm: Any = spark.sparkContext._jvm
    for _ in range(3):
        jvm.java.lang.System.gc()
        time.sleep(0.2)
    factory = jvm.java.lang.management.ManagementFactory
    heap = factory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    process = psutil.Process(jvm.java.lang.ProcessHandle.current().pid())
    return Look(
        commits=commits,
        heap_mib=round(heap / 2**20, 1),
        threads=int(factory.getThreadMXBean().getThreadCount()),
        process_mib=round(process.memory_full_info().uss / 2**20, 1),
        seconds=round(seconds, 4),
    )


if __name__ == "__main__":
    os.chdir(PROJECT)
    main()
