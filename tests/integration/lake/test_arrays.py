"""Arrays: what their elements are, NULL among them, whichever structure Parquet has them in."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pyarrow.parquet as pq
import pytest
from pyarrow import fs
from pyspark.sql import SparkSession
from pyspark.sql import functions as fn

from labctl.lake import Lake, View
from lakehouse.hudi import HudiTable
from lakehouse.jvm import allow_null_elements
from sqlapi.source import MergeView, SourceTable
from sqlapi.sources.bucket import BucketSource
from tests.integration.lake.table_files import table_config

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
STRUCTURE = "parquet.avro.write-old-list-structure"
COLUMNS = (
    "id int, words array<string>, numbers array<int>, nested array<array<string>>, "
    "things array<struct<name:string,size:int>>, "
    "__op string, __deleted string, __kafka_partition int, __kafka_offset bigint"
)
Arrays = tuple[Any, Any, Any, Any]
FULL: Arrays = (["a", "b"], [1, 2], [["x"], ["y", "z"]], [{"name": "n", "size": 1}])
KEPT: tuple[Arrays, ...] = (FULL, ([], [], [], []), (None, None, None, None))
"""What either structure holds."""
NULLS: tuple[Arrays, ...] = (
    (["a", None], [None, 1], [["x", None], None, []], [{"name": None, "size": 2}, None]),
    ([None], [None], [[None]], [None]),
    ([None, None, "", "ü"], [0, None], [None, None], [{"name": "n", "size": 1}, None]),
)
NAMES = ("words", "numbers", "nested", "things")


@contextmanager
def _old_structure(spark: SparkSession) -> Iterator[None]:
    """As tables were written before."""
    hadoop: Any = spark.sparkContext._jsc.hadoopConfiguration()
    before = hadoop.get(STRUCTURE)
    hadoop.set(STRUCTURE, "true")
    try:
        yield
    finally:
        hadoop.unset(STRUCTURE) if before is None else hadoop.set(STRUCTURE, before)


class Written:
    """A table as the application writes it, and what is expected in it."""

    def __init__(
        self, spark: SparkSession, lake: Lake, folder: Path, kind: str, buckets: int = 1
    ) -> None:
        name = f"arrays_{folder.name.replace('-', '_')}".lower()
        spread = f"hoodie.bucket.index.num.buckets={buckets}"
        self.config = table_config(folder, "odd", name, kind, "id", spread)
        self.spark, self.lake = spark, lake
        self.hudi = HudiTable(spark, self.config, f"{lake.storage.spark_uri}/silver")
        self.hudi.state()
        allow_null_elements(spark)  # As the application does in its session.
        self.offset = 0
        self.expected: dict[int, Arrays] = {}

    def commit(self, rows: dict[int, Arrays], later: str = "") -> None:
        """Insert or update these rows; `later` is a column that has come since."""
        made = []
        for key, arrays in rows.items():
            made.append((key, *arrays, "u", "false", 0, self.offset))
            self.offset += 1
        frame = self.spark.createDataFrame(made, COLUMNS).coalesce(1)
        if later:
            frame = frame.withColumn(later, fn.concat(fn.lit(f"{later} "), "id"))
        self.hudi.commit(frame, len(made), {0: self.offset}, topic_id="")
        self.expected |= rows

    def compact(self) -> None:
        if self.config.table_type == COW:
            return
        nothing: Any = self.spark.sparkContext._jvm.org.apache.hudi.common.util.Option.empty()  # type: ignore[union-attr]
        client: Any = self.hudi.write_client()
        try:
            instant = client.scheduleCompaction(nothing)
            assert instant.isPresent()
            client.compact(instant.get(), True)
        finally:
            client.close()

    def check(self) -> None:
        """Every array is as it was written: by hudi-rs, by SQL and by Spark."""
        name = self.config.name
        read = {
            "hudi-rs": self.lake.table(name).read(view=View(deleted=True)).to_pylist(),
            "SQL": self.lake.query(f"SELECT * FROM {name}", View(deleted=True)).to_pylist(),
            "Spark": [row.asDict(recursive=True) for row in self.hudi.rows().collect()],
        }
        # The SQL endpoint's, where it stands alone; in a lab it is the lake's own.
        place = SourceTable("odd", name, f"file://{self.hudi.path.removeprefix('file://')}")
        local = SimpleNamespace(
            filesystem=fs.LocalFileSystem(), path=lambda uri: uri.removeprefix("file://")
        )
        endpoint = BucketSource(cast("Any", local), self.lake.storage.spark_uri)
        read["SQL endpoint"] = endpoint.read(place, ["id", *NAMES], MergeView()).to_pylist()
        with _old_structure(self.spark):  # A session of anyone's, which only reads.
            read["Spark by itself"] = [
                row.asDict(recursive=True) for row in self.hudi.rows().collect()
            ]
        for reader, rows in read.items():
            found = {row["id"]: tuple(row[column] for column in NAMES) for row in rows}
            assert found == self.expected, reader
            assert len(rows) == len(self.expected), reader

    def structures(self) -> set[str]:
        """How Parquet has the elements of `words`, in all files."""
        folder = Path(self.hudi.path.removeprefix("file://"))
        found = set()
        for file in folder.rglob("*.parquet"):
            schema = pq.ParquetFile(file).schema
            paths = [schema.column(number).path for number in range(len(schema))]
            found.add(next(path for path in paths if path.startswith("words.")))
        return found


NEW, OLD = "words.list.element", "words.array"


@pytest.mark.parametrize("kind", [MOR, pytest.param(COW, marks=pytest.mark.long)])
def test_elements_may_be_null(spark: SparkSession, lake: Lake, tmp_path: Path, kind: str) -> None:
    table = Written(spark, lake, tmp_path, kind)
    table.commit(dict(enumerate((*KEPT, *NULLS))))
    table.check()
    table.commit(dict(enumerate(reversed((*KEPT, *NULLS)))) | {9: NULLS[0]})
    table.check()
    table.compact()
    table.check()
    table.commit({2: FULL, 3: NULLS[1], 10: NULLS[2]})
    table.check()
    assert table.structures() == {NEW}


@pytest.mark.long
@pytest.mark.parametrize("kind", [MOR, COW])
def test_a_column_may_come_later(
    spark: SparkSession, lake: Lake, tmp_path: Path, kind: str
) -> None:
    table = Written(spark, lake, tmp_path, kind, buckets=3)
    table.commit({key: NULLS[key % 3] for key in range(20)})
    table.commit({key: KEPT[key % 3] for key in range(9)})
    before = table.hudi.state().schema
    table.commit({2: FULL}, later="note")
    after = table.hudi.state().schema
    assert after
    # hudi-rs reads the table once its files have the column.
    assert table.hudi.needs_rewrite(before, after) == (kind == MOR)
    table.compact()
    table.check()
    table.commit({3: FULL, 30: NULLS[0]}, later="note")
    table.check()
    assert not table.hudi.needs_rewrite(after, after)


@pytest.mark.long
@pytest.mark.parametrize("kind", [MOR, COW])
def test_a_table_of_the_old_structure_goes_on(
    spark: SparkSession, lake: Lake, tmp_path: Path, kind: str
) -> None:
    table = Written(spark, lake, tmp_path, kind, buckets=4)
    with _old_structure(spark):
        table.commit({key: KEPT[key % 3] for key in range(40)})
        table.commit({key: KEPT[(key + 1) % 3] for key in range(10)})
        table.check()
    assert table.structures() == {OLD}
    table.check()
    # One bucket has files, or rows of a log, in the new structure; the others do not.
    table.commit({0: NULLS[0]})
    table.check()
    table.compact()
    table.check()
    assert table.structures() == {NEW, OLD}
    table.commit({key: NULLS[key % 3] for key in range(5, 45)})
    table.check()
    table.compact()
    table.check()
