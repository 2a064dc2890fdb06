"""Table services of the Spark application: what an interruption leaves is taken up again."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from tenacity import Retrying, stop_after_delay, wait_fixed

from labctl.lake import Lake, View
from lakecontract.properties import load_tables
from lakehouse import clock
from lakehouse.clock import ClockError
from lakehouse.hudi import HudiTable
from lakehouse.maintenance import Maintenance
from sqlapi.table_format import State

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

SHIPPED = Path(__file__).parents[3] / "spark" / "properties"
COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
SCHEMA = (
    "id int, name string, __op string, __deleted string, "
    "__kafka_partition int, __kafka_offset bigint"
)
WAIT_SECONDS = 240.0


@dataclass
class Silver:
    """A table as the application writes it, and what is expected in it."""

    spark: SparkSession
    lake: Lake
    base_path: str
    table: HudiTable
    expected: dict[int, str] = field(default_factory=dict)
    offset: int = 0

    def new(self, keys: Iterable[int]) -> tuple[DataFrame, dict[int, str]]:
        """A new version of each key, as rows and as what is then expected."""
        start = self.offset
        rows = [(key, f"v{n}", "u", "false", 0, n) for n, key in enumerate(keys, start)]
        self.offset += len(rows)
        return self.spark.createDataFrame(rows, SCHEMA), {row[0]: row[1] for row in rows}

    def commit(self, keys: Iterable[int]) -> None:
        """One commit of a new version of each key."""
        rows, expected = self.new(keys)
        self.table.commit(rows, len(expected), {0: self.offset}, topic_id="")
        self.expected |= expected

    def overwrite(self, keys: Iterable[int]) -> None:
        """Replace all rows by a new version of each key."""
        rows, self.expected = self.new(keys)
        self.table.overwrite(rows, {0: self.offset}, topic_id="")

    def content(self, **view: Any) -> dict[int, str]:
        rows = self.lake.read(self.table.config.name, ["id", "name"], View(**view)).to_pylist()
        found = {row["id"]: row["name"] for row in rows}
        assert len(found) == len(rows)
        return found

    def instants(self, action: str, state: State = State.COMPLETED) -> list[str]:
        return [
            instant.requested
            for instant in self.lake.instants(self.table.config.name)
            if (instant.action, instant.state) == (action, state)
        ]

    def files(self, suffix: str) -> list[Path]:
        """Files of the table's timeline."""
        folder = Path(self.table.path.removeprefix("file://")) / ".hoodie" / "timeline"
        return sorted(p for p in folder.iterdir() if p.is_file() and p.name.endswith(suffix))

    def plan(self) -> str:
        """Plan a compaction. Returns its instant."""
        jvm: Any = self.spark.sparkContext._jvm
        client = self.table.write_client()
        planned = client.scheduleCompaction(jvm.org.apache.hudi.common.util.Option.empty())
        client.close()
        return str(planned.get())

    def run_halfway(self, instant: str) -> None:
        """Write a compaction's files, as far as the moment before it is committed."""
        client = self.table.write_client()
        client.compact(instant, False).getWriteStatuses().collect()
        client.close()


@pytest.fixture
def silver(spark: SparkSession, lake: Lake, tmp_path: Path) -> Callable[..., Silver]:
    def make(name: str, kind: str, *properties: str) -> Silver:
        file = tmp_path / f"tickit.ecomm.{name}.properties"
        lines = (
            f"include={SHIPPED / 'base.properties'}",
            f"hoodie.table.name={name}",
            f"hoodie.datasource.write.table.type={kind}",
            "hoodie.datasource.write.recordkey.field=id",
            f"hoodie.streamer.source.kafka.topic=tickit.ecomm.{name}",
            f"hoodie.streamer.source.dfs.root=topics/tickit.ecomm.{name}",
            *properties,
        )
        file.write_text("\n".join(lines), encoding="utf-8")
        (config,) = load_tables([file])
        base_path = f"{lake.storage.spark_uri}/silver"
        return Silver(spark, lake, base_path, HudiTable(spark, config, base_path))

    return make


@pytest.fixture
def maintenance(spark: SparkSession) -> Iterator[Maintenance]:
    made = Maintenance(spark)
    made.start()
    yield made
    made.stop()


def are_gone(paths: Sequence[Path]) -> bool:
    return not any(path.exists() for path in paths)


def until(condition: Callable[[], bool]) -> None:
    for attempt in Retrying(stop=stop_after_delay(WAIT_SECONDS), wait=wait_fixed(0.1)):
        with attempt:
            assert condition()


def test_an_interrupted_compaction_is_completed_and_later_ones_follow(
    silver: Callable[..., Silver], maintenance: Maintenance
) -> None:
    made = silver("half_compacted", MOR, "hoodie.compact.inline.max.delta.commits=2")
    made.commit(range(20))
    for begun in (False, True):
        made.commit(range(10))
        left = made.plan()
        if begun:
            made.run_halfway(left)
        made.commit(range(5))
        state = made.table.state()
        assert state.is_service_unfinished

        maintenance.opened(made.table, state)

        until(lambda: made.content(read_optimized=True) == made.expected)
        assert left in made.instants("commit")
        assert not made.table.state().is_service_unfinished
    for _ in range(2):
        made.commit(range(5, 15))
        maintenance.committed(made.table, 10, rewrite=False)
    until(lambda: made.content(read_optimized=True) == made.expected)
    assert made.content() == made.expected


def test_an_interrupted_cleaning_is_completed(
    silver: Callable[..., Silver], maintenance: Maintenance
) -> None:
    made = silver("half_cleaned", COW, "hoodie.clean.commits.retained=1", "lab.keep.minutes=0")
    for _ in range(3):
        made.commit(range(20))
    for minutes, cleanings in ((60, 0), (0, 1)):
        config = replace(made.table.config, keep_minutes=minutes)
        client = HudiTable(made.spark, config, made.base_path).write_client()
        client.clean()
        client.close()
        assert len(made.files(".clean")) == cleanings
    (done,) = made.files(".clean")
    done.unlink()
    state = made.table.state()
    assert state.is_service_unfinished

    maintenance.opened(made.table, state)

    until(lambda: len(made.instants("clean")) == 1)
    assert not made.table.state().is_service_unfinished
    assert made.content() == made.expected


def test_an_interrupted_archiving_is_completed(
    silver: Callable[..., Silver], maintenance: Maintenance
) -> None:
    made = silver(
        "half_archived",
        COW,
        "hoodie.clean.commits.retained=1",
        "hoodie.keep.min.commits=2",
        "hoodie.keep.max.commits=3",
        "lab.keep.minutes=0",
    )
    made.commit(range(20))
    for deleted_in_part in (False, True):
        for _ in range(3):
            made.commit(range(10))
        before = {path: path.read_bytes() for path in made.files("")}
        client = made.table.write_client()
        client.archive()
        client.close()
        gone = [path for path in before if not path.exists()]
        assert gone
        for path in gone[len(gone) // 2 if deleted_in_part else 0 :]:
            path.write_bytes(before[path])
        if not deleted_in_part:  # Nor was it noted that there is one more file in the archive.
            for path in (gone[0].parent / "history").iterdir():
                if path.suffix != ".parquet":
                    path.unlink()
        state = made.table.state()
        assert state.next_offsets == {0: made.offset}

        maintenance.opened(made.table, replace(state, commits_since_cleaning=20))

        until(partial(are_gone, gone))
        assert made.content() == made.expected


def test_an_interrupted_rebuild_is_undone_by_the_next_write(
    silver: Callable[..., Silver],
) -> None:
    made = silver("half_rebuilt", MOR)
    for _ in range(2):
        made.commit(range(20))
    failing = {
        "hoodie.precommit.validators": (
            "org.apache.hudi.client.validator.SqlQuerySingleResultPreCommitValidator"
        ),
        "hoodie.precommit.validators.single.value.sql.queries": (
            "SELECT count(*) FROM <TABLE_NAME>#-1"
        ),
    }
    broken = HudiTable(
        made.spark,
        replace(made.table.config, hoodie={**made.table.config.hoodie, **failing}),
        made.base_path,
    )
    with pytest.raises(Exception, match="validat"):
        broken.overwrite(made.new(range(5))[0], {0: made.offset}, topic_id="")
    assert made.instants("replacecommit", State.INFLIGHT)
    assert made.content() == made.expected

    made.commit(range(5, 10))

    assert not made.instants("replacecommit", State.INFLIGHT)
    assert made.content() == made.expected
    made.overwrite(range(3, 9))
    assert made.content() == made.expected


def test_nothing_is_committed_before_what_is_there(
    silver: Callable[..., Silver], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = silver("clock_back", COW)
    made.commit(range(3))
    again = replace(made, table=HudiTable(made.spark, made.table.config, made.base_path))
    before = made.expected
    monkeypatch.setattr(clock, "now", lambda: time.time() - 3600)
    for one in (made, again):
        one.table.state()
        with pytest.raises(
            ClockError, match=r"behind the latest commit of table [a-z.]*clock_back"
        ):
            one.commit(range(3))
        with pytest.raises(ClockError):
            one.table.write_client()
        assert one.table.is_ahead_of_clock
    assert made.content() == before
    monkeypatch.undo()
    made.commit(range(3))
    assert made.content() == made.expected


def test_a_table_does_not_wait_for_the_clock_of_another(
    silver: Callable[..., Silver], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An instant of the future, that Hudi has given out, is not waited for."""
    ahead = int((time.time() + 3600) * 1000)
    made = silver("clock_ahead", MOR)
    made.commit(range(3))
    jvm: Any = made.spark.sparkContext._jvm
    last = jvm.java.lang.Class.forName(clock._GENERATOR).getDeclaredField("LAST_INSTANT_TIME")
    last.setAccessible(True)
    generator = jvm.org.apache.hudi.common.table.timeline.HoodieInstantTimeGenerator
    last.get(None).set(generator.formatDate(jvm.java.util.Date(ahead)))
    monkeypatch.setattr(clock.InstantClock, "_highest", time.time() + 3600)
    made.commit(range(3))
    assert made.content() == made.expected
