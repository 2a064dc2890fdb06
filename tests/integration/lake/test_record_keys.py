"""Record keys of text and bytes: one row for each key of the source, whatever its values are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from labctl.lake import Lake, View
from lakehouse.hudi import HudiTable
from lakehouse.placement import Placement
from tests.integration.lake.table_files import table_config

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]

COW, MOR = "COPY_ON_WRITE", "MERGE_ON_READ"
HUDIS = "org.apache.hudi.keygen."
GENERATOR = "hoodie.datasource.write.keygenerator.class"
OTHERS = "v string, place string, __op string, __deleted string, __kafka_partition int, "
OTHERS += "__kafka_offset bigint"
TWO = (
    ("x,b:y", "z"),
    ("x", "y,b:z"),
    ("", ""),
    ("", "y"),
    ("x", ""),
    ("__empty__", "__empty__"),
    ("__null__", "y"),
    ("x", "__null__"),
    ("__escaped__", "y"),
    ("__escaped__x%2Cb%3Ay", "z"),
    ("%2C", "%"),
    ("x", "x,y:z:w"),
    ("10:20:30", "2024-01-01T10:20:30"),
    ("Smith, John", "a, b"),
    ('it\'s \\ "q"', "Ünï 日本 🎫"),
)
"""Keys of two texts that Hudi writes alike, refuses or never finds the end of, and plain ones."""
ONE = tuple(
    dict.fromkeys(
        (text,)
        for text in (*(part for pair in TWO for part in pair), "urn:a:b,c", "a:b,c", ":,:", ",:,")
    )
)
BYTES = ((b"",), (b"\x00\xff",), (b"\x00\xfe",), (b"ab",), (bytes(16),))
KEYS = {"id": ("id string", ONE), "a,b": ("a string, b string", TWO), "c": ("c binary", BYTES)}
Key = tuple[Any, ...]


class Written:
    """A table as the application writes it, and what is expected in it."""

    def __init__(
        self,
        spark: SparkSession,
        lake: Lake,
        folder: Path,
        name: str,
        kind: str,
        keys: str,
        *more: str,
    ) -> None:
        self.spark, self.lake, self.keys = spark, lake, keys.split(",")
        buckets = "hoodie.bucket.index.num.buckets=4"
        self.config = table_config(folder, "odd", name, kind, keys, buckets, *more)
        self.offset = 0
        self.expected: dict[Key, tuple[str, str]] = {}
        self.open()

    def open(self) -> None:
        """As after a restart: what is known is what the table says."""
        self.hudi = HudiTable(self.spark, self.config, f"{self.lake.storage.spark_uri}/silver")
        self.placement = Placement(self.spark, self.config)
        if self.hudi.state().schema is not None:
            self.placement.load(self.hudi.rows())

    def rows(self, columns: str, changes: Iterable[tuple[Key, str, str]]) -> DataFrame:
        made = []
        for key, place, operation in changes:
            gone = operation == "d"
            made.append(
                (*key, f"v{self.offset}", place, operation, str(gone).lower(), 0, self.offset)
            )
            if gone and self.config.deletes == "hard":
                self.expected.pop(key, None)
            else:
                self.expected[key] = (f"v{self.offset}", place)
            self.offset += 1
        return self.spark.createDataFrame(made, f"{columns}, {OTHERS}").coalesce(1)

    def commit(self, columns: str, changes: Iterable[tuple[Key, str, str]]) -> None:
        rows, ends = self.rows(columns, changes), {0: self.offset}
        if not self.config.partition_fields:
            self.hudi.commit(rows, rows.count(), ends, topic_id="")
            return
        with self.placement.arranged(rows) as arranged:
            self.hudi.commit(arranged.rows, arranged.count, ends, topic_id="")
            self.placement.written(arranged)

    def compact(self) -> None:
        if self.config.table_type == COW:
            return
        nothing: Any = self.spark.sparkContext._jvm.org.apache.hudi.common.util.Option.empty()  # type: ignore[union-attr]
        client: Any = self.hudi.write_client()
        try:
            instant = client.scheduleCompaction(nothing)
            if instant.isPresent():
                client.compact(instant.get(), True)
        finally:
            client.close()

    def check(self) -> None:
        """Each key once, with its last value: by hudi-rs, by SQL and by Spark."""
        name = self.config.name
        found = (
            self.lake.table(name).read(view=View(deleted=True)).to_pylist(),
            self.lake.query(f"SELECT * FROM {name}", View(deleted=True)).to_pylist(),
            [row.asDict() for row in self.hudi.rows().collect()],
        )
        for rows in found:
            by_key = {self.key(row): (row["v"], row["place"]) for row in rows}
            assert by_key == self.expected
            assert len(rows) == len(self.expected)

    def key(self, row: Mapping[str, Any]) -> Key:
        values = (row[name] for name in self.keys)
        return tuple(bytes(one) if isinstance(one, bytearray) else one for one in values)

    def texts(self) -> dict[Key, str]:
        """The record keys as the table has them."""
        rows = (row.asDict() for row in self.hudi.rows().collect())
        return {self.key(row): row["_hoodie_record_key"] for row in rows}

    def generator(self) -> str:
        return str(self.hudi.meta_client().getTableConfig().getKeyGeneratorClassName())


def _partitioned(keys: str) -> tuple[str, ...]:
    name = "ComplexKeyGenerator" if "," in keys else "SimpleKeyGenerator"
    return ("hoodie.datasource.write.partitionpath.field=place", f"{GENERATOR}={HUDIS}{name}")


@pytest.mark.parametrize(
    ("keys", "kind", "place", "deletes"),
    [
        ("a,b", MOR, False, "soft"),
        *(
            pytest.param(keys, *case, marks=pytest.mark.long)
            for keys in KEYS
            for case in ((COW, False, "hard"), (MOR, True, "hard"), (COW, True, "soft"))
        ),
        *(pytest.param(keys, MOR, False, "soft", marks=pytest.mark.long) for keys in ("id", "c")),
    ],
)
def test_every_key_is_one_row(
    spark: SparkSession,
    lake: Lake,
    tmp_path: Path,
    keys: str,
    kind: str,
    place: bool,
    deletes: str,
) -> None:
    columns, all_keys = KEYS[keys]
    name = f"keys_{keys.replace(',', '')}_{kind[:3].lower()}_{'parts' if place else 'one'}"
    more = _partitioned(keys) if place else ()
    table = Written(spark, lake, tmp_path, name, kind, keys, f"lab.deletes={deletes}", *more)
    table.commit(columns, ((key, "here", "c") for key in all_keys))
    table.check()
    assert table.generator().startswith("lakehouse.")
    assert len(set(table.texts().values())) == len(all_keys)
    table.commit(columns, ((key, "there", "u") for key in all_keys[::2]))
    table.commit(columns, ((key, "here", "d") for key in all_keys[1::2]))
    table.check()
    table.open()
    table.commit(columns, ((key, "back", "c") for key in reversed(all_keys)))
    table.compact()
    table.check()
    before = table.texts()
    table.hudi.overwrite(
        table.hudi.rows().select(
            *(name for name in table.hudi.rows().columns if not name.startswith("_hoodie_"))
        ),
        {0: table.offset},
        topic_id="",
    )
    table.check()
    # However Hudi asks for them: row by row, or of whole batches.
    assert table.texts() == before
    table.commit(columns, ((key, "last", "u") for key in all_keys))
    table.check()


@pytest.mark.long
@pytest.mark.parametrize("place", [False, True])
def test_a_table_that_hudis_own_class_has_begun_goes_on_with_it(
    spark: SparkSession, lake: Lake, tmp_path: Path, place: bool
) -> None:
    name = f"begun_{'parts' if place else 'one'}"
    more = _partitioned("a,b") if place else ()
    table = Written(spark, lake, tmp_path, name, MOR, "a,b", *more)
    columns, plain = "a string, b string", [("Smith, John", "x"), ("a:b", "p, q: r"), ("", "y")]
    table.hudi.key_generator.can_be_distinct = False  # As before there was another class.
    table.commit(columns, ((key, "here", "c") for key in plain))
    assert table.generator().startswith(HUDIS)
    before = table.texts()
    table.open()
    assert not table.hudi.key_generator.keys.are_distinct
    table.commit(columns, ((key, "there", "u") for key in plain))
    table.check()
    assert table.texts() == before
    assert not table.hudi.key_generator.is_as_new(table.hudi.rows().schema)
    # As `labctl table rebuild` does, which has found that.
    table.hudi.clear()
    table.placement.load(None)
    assert table.hudi.key_generator.keys.are_distinct
    table.commit(columns, ((key, "here", "c") for key in (*plain, *TWO)))
    table.check()
    assert table.generator().startswith("lakehouse.")


@pytest.mark.long
def test_a_table_without_text_in_its_key_has_hudis_own_class(
    spark: SparkSession, lake: Lake, tmp_path: Path
) -> None:
    table = Written(spark, lake, tmp_path, "numbers", COW, "id")
    table.commit("id int", (((number,), "here", "c") for number in range(9)))
    table.check()
    assert table.generator() == f"{HUDIS}NonpartitionedKeyGenerator"


def _decoded(text: str, columns: list[str]) -> Key:
    """The key that a text is of: what `KeyText.java` writes, read again."""
    rest, values = text, []
    for number, _column in enumerate(columns):
        if len(columns) > 1:
            rest = rest.removeprefix(f"{_column}:")
        last = number == len(columns) - 1
        value, _, rest = (rest, "", "") if last else rest.partition(f",{columns[number + 1]}:")
        rest = rest if last else f"{columns[number + 1]}:{rest}"
        words = {"__null__": None, "__empty__": ""} if len(columns) > 1 else {}
        is_escaped = value.startswith("__escaped__")
        plain = unquote(value.removeprefix("__escaped__")) if is_escaped else value
        values.append(words.get(value, plain))
    return tuple(values)


_TEXTS = st.one_of(
    st.text("xab,:%_", max_size=8),
    st.text(max_size=8),
    st.sampled_from([part for pair in TWO for part in pair]),
)


@pytest.mark.long
def test_a_text_says_which_key_it_is_of_and_hudi_finds_its_end(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    ordinary = set()

    def check(columns: list[str], key: Key) -> None:
        fields = ",".join(f'{{"name": "{c}", "type": ["null", "string"]}}' for c in columns)
        schema = jvm.org.apache.avro.Schema.Parser().parse(
            f'{{"type": "record", "name": "R", "fields": [{fields}]}}'
        )
        row = jvm.org.apache.avro.generic.GenericData.Record(schema)
        for column, value in zip(columns, key, strict=True):
            row.put(column, value)
        properties = jvm.org.apache.hudi.common.config.TypedProperties()
        properties.setProperty("hoodie.datasource.write.recordkey.field", ",".join(columns))
        text = jvm.lakehouse.NonpartitionedKeys(properties).getRecordKey(row)
        assert _decoded(text, columns) == key
        # Ends, and so does every test that Hudi makes of it.
        jvm.org.apache.hudi.index.bucket.BucketIdentifier.getBucketId(text, ",".join(columns), 4)
        if "__escaped__" not in text and any(key):
            hudis = jvm.org.apache.hudi.keygen.NonpartitionedKeyGenerator(properties)
            assert hudis.getRecordKey(row) == text
            ordinary.add(key)

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(_TEXTS)
    def alone(text: str) -> None:
        check(["id"], (text,))

    @settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.tuples(_TEXTS, st.one_of(st.none(), _TEXTS), _TEXTS))
    def several(key: Key) -> None:
        check(["a", "b", "c"], key)

    alone()
    several()
    assert len(ordinary) > 100
