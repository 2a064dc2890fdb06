"""Small commits by Hudi's writer without an engine: the same table as by Spark's, in any order."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from tenacity import Retrying, stop_after_delay, wait_fixed

from labctl.lake import Lake, View
from lakecontract.properties import TableConfig
from lakehouse.hudi import HudiTable
from lakehouse.jvm import allow_null_elements
from lakehouse.placement import Placement
from lakehouse.small_commits import SmallCommits
from tests.integration.lake.table_files import table_config

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
KEYGEN = "hoodie.datasource.write.keygenerator.class"
PARTS = (
    "hoodie.datasource.write.partitionpath.field=place",
    f"{KEYGEN}=org.apache.hudi.keygen.ComplexKeyGenerator",
)
COLUMNS = (
    "id int, kind string, place string, v string, price decimal(12,2), at timestamp, day date, "
    "blob binary, tags array<string>, pair struct<a:int,b:string>, ratio double"
)
POSITIONS = "__op string, __deleted string, __kafka_partition int, __kafka_offset bigint"
STEPS = ("start", "inflight", "files")
"""How far a commit comes that is never completed."""
Key = tuple[int, str]
Row = dict[str, Any]


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Grows by one for each batch: whether it was committed without Spark's writer."""
    made: list[bool] = []
    real = SmallCommits.try_commit

    def spied(self: SmallCommits, *arguments: Any) -> bool:
        made.append(real(self, *arguments))
        return made[-1]

    monkeypatch.setattr(SmallCommits, "try_commit", spied)
    return made


def configured(folder: Path, name: str, kind: str, *more: str) -> TableConfig:
    buckets = "hoodie.bucket.index.num.buckets=2"
    return table_config(folder, "small", name, kind, "id,kind", buckets, *more)


@dataclass
class History:
    """A table with a past drawn at random, and what is expected in it."""

    spark: SparkSession
    lake: Lake
    config: TableConfig
    draw: Random
    more: list[str] = field(default_factory=list)
    """Columns that came later."""
    offset: int = 0
    expected: dict[Key, Row] = field(default_factory=dict)

    def __post_init__(self) -> None:
        allow_null_elements(self.spark)
        self.open()

    def open(self) -> None:
        """As after a restart: nothing is known but what the table says."""
        self.hudi = HudiTable(self.spark, self.config, f"{self.lake.storage.spark_uri}/silver")
        self.placement = Placement(self.spark, self.config)
        if self.hudi.state().schema is not None:
            self.placement.load(self.hudi.rows())

    @property
    def schema(self) -> str:
        return ", ".join((COLUMNS, POSITIONS, *(f"{name} string" for name in self.more)))

    def batch(self, count: int) -> tuple[DataFrame, int]:
        """Changes of `count` keys at most; a key may occur twice, and its last change counts."""
        rows = []
        for _ in range(count):
            key = (self.draw.randrange(12), self.draw.choice("ab,:é"))
            gone = self.draw.random() < 0.2
            row = self._row(key, "d" if gone else "u")
            rows.append(tuple(row.values()))
            if gone and self.config.deletes == "hard":
                self.expected.pop(key, None)
            else:
                self.expected[key] = row
        self.draw.shuffle(rows)
        return self.spark.createDataFrame(rows, self.schema).coalesce(1), count

    def _row(self, key: Key, operation: str) -> Row:
        self.offset += 1
        n = self.offset
        values = (
            ("price", None if n % 5 == 0 else f"{n}.50"),
            ("at", None if n % 4 == 0 else f"2024-02-29 23:59:{n % 60:02}.{n:06}"),
            ("day", None if n % 3 == 0 else f"{1900 + n % 300}-01-01"),
        )
        made = self.spark.sql(
            "SELECT CAST(:price AS decimal(12,2)), CAST(:at AS timestamp), CAST(:day AS date)",
            args=dict(values),
        ).first()
        assert made is not None
        return {
            "id": key[0],
            "kind": key[1],
            "place": self.draw.choice(("here", "there")),
            "v": None if n % 7 == 0 else f"v{n} 🎫",
            "price": made[0],
            "at": made[1],
            "day": made[2],
            "blob": None if n % 2 == 0 else bytes(range(n % 256)),
            "tags": None if n % 6 == 0 else [f"t{n}", None],
            "pair": None if n % 8 == 0 else (n, None),
            "ratio": None if n % 9 == 0 else n / 3,
            "__op": operation,
            "__deleted": str(operation == "d").lower(),
            "__kafka_partition": 0,
            "__kafka_offset": n,
            **{name: f"{name} {n}" for name in self.more},
        }

    def commit(self, writer: str = "direct", count: int | None = None) -> None:
        rows, count = self.batch(count or self.draw.randrange(1, 12))
        hudi = self.hudi
        if writer == "spark":
            hudi = hudi.described_by(replace(self.config, commit="spark"))
        if not self.config.partition_fields:
            hudi.commit(rows, count, {0: self.offset}, topic_id="topic")
            return
        with self.placement.arranged(rows) as arranged:
            hudi.commit(arranged.rows, arranged.count, {0: self.offset}, topic_id="topic")
            self.placement.written(arranged)

    def break_off(self, step: str) -> None:
        """Begin a commit as the process would that is killed at this step, and restart."""
        before, offset = dict(self.expected), self.offset
        rows, _ = self.batch(5)
        writer = self.hudi._small._opened(self.config, self.hudi._options)
        records = writer.records(rows._jdf)
        if records is not None:
            client = _field(writer, "client")
            _field(client, "meta").reloadActiveTimeline()
            instant = client.startCommit()
            if step != "start" and self.config.table_type == MOR:
                client.transitionInflight(instant)
            if step == "files":
                client.upsertPreppedRecords(records, instant)
        self.expected, self.offset = before, offset
        self.open()

    def add_column(self) -> None:
        """Commit with one more column, and what the application does then."""
        before = self.hudi.state().schema
        self.more.append(f"more_{len(self.more)}")
        self.commit()
        after = self.hudi.state().schema
        assert after
        if self.hudi.needs_rewrite(before, after):
            self.compact()

    def compact(self) -> None:
        if self.config.table_type == COW:
            return
        nothing: Any = self.spark.sparkContext._jvm.org.apache.hudi.common.util.Option.empty()  # type: ignore[union-attr]
        client: Any = self.hudi.write_client()
        try:
            instant = client.scheduleCompaction(nothing)
            if instant.isPresent():
                self.commit()  # It does not know the plan.
                client.compact(instant.get(), True)
        finally:
            client.close()

    def clean(self) -> None:
        client: Any = self.hudi.write_client()
        try:
            client.clean()
            client.archive()
        finally:
            client.close()

    def replace_all(self) -> None:
        names = [name for name in self.hudi.rows().columns if not name.startswith("_hoodie_")]
        self.hudi.overwrite(self.hudi.rows().select(*names), {0: self.offset}, topic_id="topic")
        self.placement.load(self.hudi.rows())

    def check(self) -> None:
        """Each key once, with its last values, by hudi-rs, by SQL and by Spark; and the offset."""
        name, columns = self.config.name, ("id", "kind", "v", "price", "day", "ratio", *self.more)
        found = (
            self.lake.table(name).read(view=View(deleted=True)).to_pylist(),
            self.lake.query(f"SELECT * FROM {name}", View(deleted=True)).to_pylist(),
            [row.asDict() for row in self.hudi.rows().collect()],
        )
        wanted = {
            key: {column: row.get(column) for column in columns}
            for key, row in self.expected.items()
        }
        for rows in found:
            by_key = {
                (row["id"], row["kind"]): {column: row.get(column) for column in columns}
                for row in rows
            }
            assert by_key == wanted
            assert len(rows) == len(wanted)
        rich = {(r["id"], r["kind"]): (r["at"], r["blob"], r["tags"], r["pair"]) for r in found[2]}
        assert rich == {
            key: (row["at"], row["blob"], row["tags"], row["pair"])
            for key, row in self.expected.items()
        }
        assert self.hudi.state().next_offsets == {0: self.offset}
        assert self.hudi.state().topic_id == "topic"


def _field(of: Any, name: str) -> Any:
    """A private field of a Java object."""
    found = of.getClass().getDeclaredField(name)
    found.setAccessible(True)
    return found.get(of)


CASES = [
    ("plain", MOR, "soft", ()),
    *(
        pytest.param(*case, marks=pytest.mark.long)
        for case in (
            ("plain", MOR, "hard", ()),
            ("plain", COW, "hard", ()),
            ("parts", MOR, "hard", PARTS),
            ("parts", COW, "soft", PARTS),
        )
    ),
]


@pytest.mark.parametrize(("name", "kind", "deletes", "more"), CASES)
def test_whoever_commits_the_table_is_the_same(
    spark: SparkSession,
    lake: Lake,
    tmp_path: Path,
    commits: list[bool],
    name: str,
    kind: str,
    deletes: str,
    more: tuple[str, ...],
) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    table = f"{name}_{kind[:3].lower()}_{deletes}"
    config = configured(tmp_path, table, kind, f"lab.deletes={deletes}", *more)
    history = History(spark, lake, config, Random(seed))  # noqa: S311 - reproducible
    history.commit(count=40)
    assert commits == []
    for step in _steps(history):
        step()
        history.check()
    # Chance decides for a third of them.
    assert commits.count(True) > len(commits) // 3


def _steps(history: History) -> Iterator[Callable[[], None]]:
    """Each kind of step, between commits by either writer, in an order of its own each time."""
    steps: list[Callable[[], None]] = [
        history.open,
        history.compact,
        history.clean,
        history.replace_all,
        history.add_column,
        lambda: history.commit("spark"),
        *((lambda at=at: history.break_off(at)) for at in STEPS),
    ]
    history.draw.shuffle(steps)
    for step in steps:
        yield history.commit
        yield step
        yield lambda: history.commit(history.draw.choice(("direct", "spark")))
    yield history.commit


@pytest.mark.long
@pytest.mark.parametrize("kind", [MOR, COW])
def test_an_earlier_change_does_not_win(
    spark: SparkSession, lake: Lake, tmp_path: Path, commits: list[bool], kind: str
) -> None:
    config = configured(tmp_path, f"late_{kind[:3].lower()}", kind)
    history = History(spark, lake, config, Random(1))  # noqa: S311
    history.commit(count=40)
    history.commit(count=40)
    before, offset = dict(history.expected), history.offset
    history.offset = 0
    rows, count = history.batch(60)
    history.hudi.commit(rows, count, {0: offset}, topic_id="topic")
    late, history.offset = history.expected, offset
    history.expected = {
        key: max(late[key], before.get(key, late[key]), key=lambda row: row["__kafka_offset"])
        for key in late
    }
    assert commits == [True, True]
    history.check()


@pytest.mark.long
def test_markers_go_and_a_writer_that_fails_is_replaced(
    spark: SparkSession, lake: Lake, tmp_path: Path, commits: list[bool]
) -> None:
    config = configured(tmp_path, "failing", MOR)
    history = History(spark, lake, config, Random(2))  # noqa: S311
    history.commit(count=40)
    history.commit()
    client = _field(history.hudi._small._writer, "client")
    found = client.getClass().getDeclaredField("meta")
    found.setAccessible(True)
    found.set(client, None)  # It can no longer list the timeline.
    history.commit()
    history.commit()
    history.check()
    assert commits == [True, False, True]
    markers = Path(history.hudi.path.removeprefix("file://")) / ".hoodie" / ".temp"
    for attempt in Retrying(stop=stop_after_delay(60), wait=wait_fixed(0.1), reraise=True):
        with attempt:
            assert not [*markers.glob("*")]
