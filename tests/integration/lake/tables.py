"""Small Hudi tables with a past, written by Spark the ways silver tables come to be."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
DELETE = {"hoodie.datasource.write.operation": "delete"}
OVERWRITE = {"hoodie.datasource.write.operation": "insert_overwrite_table"}
DELETE_MARKER = {
    "hoodie.payload.delete.field": "__deleted",
    "hoodie.payload.delete.marker": "true",
}
SCHEMA = (
    "salesid int, qtysold int, pricepaid decimal(8,2), saletime timestamp, caldate date, "
    "holiday boolean, name string, __op string, __deleted string, __kafka_offset bigint"
)
EVOLVED = SCHEMA.replace("name string", "name string, promo string, bonus double")


@dataclass
class HudiTable:
    """A table under construction; `offset` is the last Kafka offset given to a row."""

    spark: SparkSession
    root: str
    name: str
    kind: str
    options: dict[str, str] = field(default_factory=dict)
    offset: int = 0

    @property
    def uri(self) -> str:
        return f"{self.root}/silver/tickit/{self.name}"

    def write(self, rows: DataFrame, options: dict[str, str] | None = None) -> None:
        """One commit."""
        merged = self._options() | self.options | (options or {})
        rows.coalesce(1).write.format("hudi").mode("append").options(**merged).save(self.uri)

    def change(
        self,
        keys: Iterable[int],
        operation: str = "u",
        *,
        first_offset: int | None = None,
        schema: str = SCHEMA,
        options: dict[str, str] | None = None,
    ) -> None:
        """One commit of one new version of each key."""
        self.write(self.rows(keys, operation, first_offset=first_offset, schema=schema), options)

    def rows(
        self,
        keys: Iterable[int],
        operation: str = "u",
        *,
        first_offset: int | None = None,
        schema: str = SCHEMA,
    ) -> DataFrame:
        """A version of each key whose values say which offset they came with."""
        rows = []
        for index, key in enumerate(keys):
            self.offset += 1
            offset = self.offset if first_offset is None else first_offset + index
            rows.append(_row(key, operation, offset, schema))
        return self.spark.createDataFrame(rows, schema)

    def call(self, procedure: str, operation: str) -> None:
        self.spark.sql(f"call {procedure}(op => '{operation}', path => '{self.uri}')").collect()

    def compact(self) -> None:
        self.call("run_compaction", "schedule")
        self.call("run_compaction", "run")

    def crash(self) -> None:
        """Undoes the end of the last commit (local tables): its data files are there already."""
        hoodie = Path(self.uri.removeprefix("file://")) / ".hoodie"
        folder = hoodie / "timeline" if (hoodie / "timeline").exists() else hoodie
        done = [p for p in folder.iterdir() if re.fullmatch(r"\d+(_\d+)?\.\w*commit", p.name)]
        last = max(done, key=lambda p: p.name)
        last.unlink()
        (folder / f".{last.name}.crc").unlink(missing_ok=True)

    def _options(self) -> dict[str, str]:
        return {
            "hoodie.table.name": self.name,
            "hoodie.datasource.write.table.type": self.kind,
            "hoodie.datasource.write.recordkey.field": "salesid",
            "hoodie.table.ordering.fields": "__kafka_offset",
            "hoodie.datasource.write.precombine.field": "__kafka_offset",
            "hoodie.table.timeline.timezone": "UTC",
            "hoodie.datasource.write.keygenerator.class": (
                "org.apache.hudi.keygen.NonpartitionedKeyGenerator"
            ),
            "hoodie.datasource.write.operation": "upsert",
            "hoodie.index.type": "BUCKET",
            "hoodie.bucket.index.num.buckets": "1",
            "hoodie.bucket.index.hash.field": "salesid",
            "hoodie.metadata.enable": "false",
            "hoodie.embed.timeline.server": "false",
            "hoodie.write.markers.type": "DIRECT",
            "hoodie.write.set.null.for.missing.columns": "true",
            "hoodie.clean.automatic": "false",
            "hoodie.archive.automatic": "false",
            "hoodie.compact.inline": "false",
        }


def _row(key: int, operation: str, offset: int, schema: str) -> tuple[Any, ...]:
    extra = (f"promo{key}", key / 3) if "promo" in schema else ()
    return (
        key,
        offset % 9,
        Decimal(key * 100 + offset % 97) / 100 if key % 5 else None,
        datetime(2008, 1, 1, tzinfo=UTC) + timedelta(seconds=key * 61, microseconds=offset),
        date(2008, 1, 1) + timedelta(days=key % 366),
        bool(key % 2) if key % 3 else None,
        f"n{key}-{offset}-ü€" if key % 4 else None,
        *extra,
        operation,
        "true" if operation == "d" else "false",
        offset,
    )


def _changes(t: HudiTable) -> None:
    """Inserts, updates, soft and hard deletes: what every table goes through."""
    t.change(range(1, 301), "r")
    t.change(range(100, 150))
    t.change(range(120, 130), "d")
    t.change(range(200, 210), "d", options=DELETE)
    t.change([*range(125, 135), *range(205, 207), *range(301, 321)])


def plain(t: HudiTable) -> None:
    _changes(t)


def compacted(t: HudiTable) -> None:
    _changes(t)
    t.compact()
    t.change([10, 11, 125, 400])
    t.change([11, 12], "d", options=DELETE)


def compacting(t: HudiTable) -> None:
    """A compaction is planned, writes go on, it is not done yet."""
    _changes(t)
    t.call("run_compaction", "schedule")
    t.change([10, 11, 125, 400])
    t.change([11, 12], "d", options=DELETE)


def compacted_late(t: HudiTable) -> None:
    compacting(t)
    t.call("run_compaction", "run")
    t.change([10, 12])


def evolved(t: HudiTable) -> None:
    """A column added: other files and rows do not have it."""
    t.change(range(1, 101), "r")
    t.change(range(1, 11))
    t.change([5, 6, 200], schema=EVOLVED)
    t.change([6, 7], schema=EVOLVED)


def narrowed(t: HudiTable) -> None:
    """A column the source no longer has."""
    t.change(range(1, 101), "r")
    t.write(t.rows(range(1, 21)).drop("name"))
    t.write(t.rows(range(15, 25)).drop("name"))


def widened(t: HudiTable) -> None:
    t.change(range(1, 101), "r")
    for keys, base in ((range(1, 21), 5_000_000_000), (range(15, 25), 6_000_000_000)):
        t.write(t.rows(keys).withColumn("qtysold", fn.col("qtysold").cast("long") + base))


def out_of_order(t: HudiTable) -> None:
    """Older changes arrive after newer ones, deletes included."""
    t.options |= DELETE_MARKER
    t.change(range(1, 101), "r", first_offset=1000)
    t.change(range(1, 21), first_offset=500)
    t.change(range(10, 31), "d", first_offset=2000)
    t.change(range(15, 40), first_offset=1500)
    t.change(range(20, 25), "c", first_offset=3000)
    t.change(range(22, 24), "d", first_offset=2500)


def crashed(t: HudiTable) -> None:
    """The writer died with its files written and its commit not."""
    t.change(range(1, 101), "r")
    t.change(range(1, 21))
    t.change([*range(10, 31), 500])
    t.crash()


def recovered(t: HudiTable) -> None:
    crashed(t)
    t.change(range(25, 35))
    t.change(range(26, 36))


def _forget_soon(t: HudiTable) -> None:
    """After a few commits old file versions are deleted, old instants archived."""
    t.options |= {
        "hoodie.clean.automatic": "true",
        "hoodie.archive.automatic": "true",
        "hoodie.clean.commits.retained": "2",
        "hoodie.keep.min.commits": "4",
        "hoodie.keep.max.commits": "5",
        "hoodie.compact.inline": str(t.kind == MOR).lower(),
        "hoodie.compact.inline.max.delta.commits": "3",
    }


def cleaned(t: HudiTable) -> None:
    """So many commits that old file versions are deleted and old instants archived."""
    _forget_soon(t)
    t.change(range(1, 101), "r")
    for first in range(1, 100, 10):
        t.change(range(first, first + 15))


def untouched(t: HudiTable) -> None:
    """One bucket goes on being written, until the timeline has forgotten what wrote the others."""
    _forget_soon(t)
    t.change(range(1, 101), "r")
    for _ in range(10):
        t.change([7])
    t.change([7], schema=EVOLVED)


def overwritten(t: HudiTable) -> None:
    """What replaces all rows leaves the files there that no timeline knows any more."""
    untouched(t)
    t.change(range(50, 60), "r", schema=EVOLVED, options=OVERWRITE)


def rebuilt(t: HudiTable) -> None:
    """What replaced all rows is the only write there is: the table was made by it."""
    t.change(range(1, 101), "r", options=OVERWRITE)


def rebuilt_and_changed(t: HudiTable) -> None:
    """The same between changes, which went to other files before it than after it."""
    t.change(range(1, 31), "r")
    t.change(range(20, 101), "r", options=OVERWRITE)
    t.change([22, 125])


def types(t: HudiTable) -> None:
    schema = (
        "salesid int, s smallint, l bigint, f float, d double, b binary, dec decimal(38,10), "
        "dec9 decimal(9,0), dec18 decimal(18,4), st struct<scale:int,value:binary>, "
        "arr array<string>, ts timestamp, dt date, __deleted string, __kafka_offset bigint"
    )
    extremes: dict[int, tuple[Any, ...]] = {
        0: (None,) * 12,
        1: (
            *(32767, 2**63 - 1, 1.5e38, 1.7e308, b"\x00\xff"),
            *(
                Decimal("9" * 28 + ".9999999999"),
                Decimal(999999999),
                Decimal("12345678901234.5678"),
            ),
            *((2, b"\x01"), ["a", "ü"]),
            *(datetime(9999, 12, 31, 23, 59, 59, 999999, UTC), date(9999, 12, 31)),
        ),
        2: (
            *(-32768, -(2**63), -1.5e38, -1.7e308, b""),
            *(Decimal("-" + "9" * 28 + ".9999999999"), Decimal(-999999999), Decimal("-0.0001")),
            *((0, b""), []),
            *(datetime(1900, 1, 1, 0, 0, 0, 1, UTC), date(1600, 1, 1)),
        ),
    }
    for round_ in range(2):
        rows = [(k, *extremes[(k + round_) % 3], "false", 100 * round_ + k) for k in range(6)]
        t.write(t.spark.createDataFrame(rows, schema))


@dataclass(frozen=True)
class Case:
    """A table to make, and on which kinds of table it makes a difference."""

    build: Callable[[HudiTable], None]
    kind: str
    options: dict[str, str] = field(default_factory=dict)
    suffix: str = ""

    @property
    def name(self) -> str:
        return f"{self.build.__name__}{self.suffix}_{'mor' if self.kind == MOR else 'cow'}"


_SIX = {"hoodie.write.table.version": "6", "hoodie.write.auto.upgrade": "false"}
BUCKETS = {"hoodie.bucket.index.num.buckets": "4"}

CASES = [
    *(
        Case(build, kind)
        for build in (plain, evolved, narrowed, widened, out_of_order, crashed, cleaned, types)
        for kind in (COW, MOR)
    ),
    *(Case(build, MOR) for build in (compacted, compacting, compacted_late, recovered)),
    *(Case(rebuilt, kind) for kind in (COW, MOR)),
    Case(rebuilt_and_changed, MOR),
    *(Case(evolved, kind, BUCKETS, "_buckets") for kind in (COW, MOR)),
    *(
        Case(build, kind, BUCKETS, "_buckets")
        for build in (widened, untouched, overwritten)
        for kind in (COW, MOR)
    ),
    *(Case(build, MOR, _SIX, "_six") for build in (compacted, recovered)),
    Case(plain, COW, _SIX, "_six"),
    Case(compacted, MOR, {"hoodie.metadata.enable": "true"}, "_metadata"),
]
