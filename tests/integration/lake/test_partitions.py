"""Tables in partitions: a row that changes its partition is there once, whatever its values are."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from labctl.lake import Lake, View
from labctl.lake.silver_table import SilverTable
from lakecontract.errors import PermanentError, SchemaChangeError
from lakecontract.properties import TableConfig
from lakehouse.hudi import HudiTable
from lakehouse.placement import Placement, check_columns
from lakehouse.schema_changes import POSITION_COLUMNS
from tests.integration.lake.table_files import table_config

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
SCHEMA = (
    "id int, name string, place string, __op string, __deleted string, "
    "__kafka_partition int, __kafka_offset bigint"
)
ODD = ("American", "French", None, "", "a/b", "k=v", "50%", " two words ", "Côte d'Ivoire", "日本")
ODDER = ("..", ".", ".hoodie", "_hidden", "x%2Fy", "q?#[]{}*\"'\\^:", "tab\tline\n", "🎫")
Change = tuple[int, str | None, str]
"""A key, where it goes, and what was done: `u` or `d`."""


def museum_config(folder: Path, name: str, kind: str, *lines: str) -> TableConfig:
    return table_config(
        folder,
        "museum",
        name,
        kind,
        "id",
        "hoodie.datasource.write.partitionpath.field=place",
        "hoodie.datasource.write.keygenerator.class=org.apache.hudi.keygen.SimpleKeyGenerator",
        *lines,
    )


class Museum:
    """A table in partitions as the application writes it, and what is expected in it."""

    def __init__(self, spark: SparkSession, lake: Lake, config: TableConfig) -> None:
        self.spark, self.config = spark, config
        self.hudi = HudiTable(spark, config, f"{lake.storage.spark_uri}/silver")
        self.placement = Placement(spark, config)
        self.lake = lake
        self.expected: dict[int, tuple[str, str | None]] = {}
        self.offset = 0

    def rows(self, changes: Iterable[Change]) -> DataFrame:
        rows = []
        for key, place, operation in changes:
            gone = operation == "d"
            name = f"v{self.offset}"
            # A delete's row has its key alone, as a database with plain logging tells it.
            values = (None, None) if gone else (name, place)
            rows.append((key, *values, operation, str(gone).lower(), 0, self.offset))
            if gone and self.config.deletes == "hard":
                self.expected.pop(key, None)
            else:
                self.expected[key] = (operation, None if gone else place)
            self.offset += 1
        return self.spark.createDataFrame(rows, SCHEMA).coalesce(1)

    def commit(self, *changes: Change) -> None:
        with self.placement.arranged(self.rows(changes)) as arranged:
            if arranged.count:
                self.hudi.commit(arranged.rows, arranged.count, {0: self.offset}, topic_id="")
                self.placement.written(arranged)

    @property
    def table(self) -> SilverTable:
        return self.lake.table(self.config.name)

    def check(self) -> None:
        """Each row once, with its last value, by hudi-rs, by SQL and by Spark."""
        of_rust = self.table.read(view=View(deleted=True)).to_pylist()
        of_sql = self.lake.query(f"SELECT * FROM {self.config.name}", View(deleted=True))
        for rows in (of_rust, of_sql.to_pylist()):
            found = {row["id"]: (row["__op"], row["place"]) for row in rows}
            assert len(found) == len(rows)
            assert found == self.expected
        rows = [row.asDict() for row in self.hudi.rows().collect()]
        # Spark tells a row's partition by its folder, which null and "" share.
        assert {row["id"]: (row["__op"], row["place"]) for row in rows} == {
            key: (operation, place or None) for key, (operation, place) in self.expected.items()
        }
        assert len(rows) == len(self.expected)


@pytest.mark.parametrize("kind", [COW, MOR])
@pytest.mark.parametrize("deletes", ["soft", "hard"])
def test_a_row_is_in_one_partition_whatever_happens_to_it(
    spark: SparkSession, lake: Lake, tmp_path: Path, kind: str, deletes: str
) -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    name = f"moves_{kind[:3].lower()}_{deletes}"
    museum = Museum(spark, lake, museum_config(tmp_path, name, kind, f"lab.deletes={deletes}"))
    museum.commit(*((key, place, "u") for key, place in enumerate(ODD)))
    museum.check()
    for number in range(4):
        # Some keys several times in a batch, in several partitions; some deleted, some back.
        museum.commit(
            *(
                (chance.randrange(len(ODD) + 2), chance.choice(ODD), chance.choice("uuud"))
                for _ in range(8)
            )
        )
        if number == 1:  # As after a restart: what is known is what the table says.
            museum.placement = Placement(spark, museum.config)
            museum.placement.load(museum.hudi.rows())
    museum.check()


def test_odd_values_moves_compaction_and_rebuild(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    museum = Museum(spark, lake, museum_config(tmp_path, "odd", MOR))
    museum.commit(*((key, place, "u") for key, place in enumerate(ODDER)))
    before = museum.table.timeline().latest
    assert before is not None
    museum.commit(*((key, place, "u") for key, place in enumerate(reversed(ODDER))))
    museum.check()
    client: Any = museum.hudi.write_client()
    try:
        nothing = spark.sparkContext._jvm.org.apache.hudi.common.util.Option.empty()  # type: ignore[union-attr]
        client.compact(client.scheduleCompaction(nothing).get(), True)
    finally:
        client.close()
    museum.check()
    rows = museum.table.read(view=View(as_of=before)).to_pylist()
    assert {row["id"]: row["place"] for row in rows} == dict(enumerate(ODDER))
    # One of many file groups is lost: told, and which one.
    storage = museum.lake.storage
    files = [file for file in storage.list(museum.table.path, recursive=True) if file.size]
    lost = max(f.path for f in files if f.path.endswith(".parquet") and "place=%2E" not in f.path)
    content = Path(lost).read_bytes()
    Path(lost).unlink()
    with pytest.raises(Exception, match=Path(lost).name):
        museum.table.read()
    Path(lost).write_bytes(content)
    museum.expected = {}
    museum.hudi.overwrite(
        museum.rows([(1, "a/b", "u"), (2, None, "u")]), {0: museum.offset}, topic_id=""
    )
    museum.check()


def test_what_cannot_be_a_partition_is_told(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    config = museum_config(tmp_path, "refused", COW)
    rows = Museum(spark, lake, config).rows([(1, "x", "u")])
    check_columns(config, None, rows.schema)
    check_columns(config, None, POSITION_COLUMNS)
    for wrong, message in (
        (rows.drop("place"), r"properties:6: .* a column that its records do not have"),
        (rows.withColumn("place", rows.id.cast("double")), "place, which is double"),
        (rows.drop("__deleted"), "no column __deleted"),
    ):
        with pytest.raises(SchemaChangeError, match=message):
            check_columns(config, None, wrong.schema)
    number = rows.withColumn("place", rows.id)
    with pytest.raises(SchemaChangeError, match="which was string and now arrives as int"):
        check_columns(config, rows.schema, number.schema)
    long = Museum(spark, lake, config)
    with pytest.raises(PermanentError, match="300 characters, is too long"):
        long.commit((1, "x" * 300, "u"))
