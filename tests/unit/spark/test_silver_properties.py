"""The tables' properties files: HoodieStreamer's format, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from lakehouse.errors import ConfigurationError
from lakehouse.properties import load_tables, read_properties

SHIPPED = Path(__file__).parents[3] / "spark" / "properties"

BASE = """\
# shared
hoodie.table.ordering.fields=__kafka_offset
hoodie.index.type=BUCKET
lab.deletes=soft
"""
TABLE = """\
include=base.properties
hoodie.table.name=sale
hoodie.datasource.write.table.type=MERGE_ON_READ
hoodie.datasource.write.recordkey.field=salesid
hoodie.streamer.source.kafka.topic=tickit.ecomm.sale
hoodie.streamer.source.dfs.root=topics/tickit.ecomm.sale
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "base.properties").write_text(BASE)
    (tmp_path / "tickit.ecomm.sale.properties").write_text(TABLE)
    return tmp_path


def test_shipped_files_describe_the_seven_tables() -> None:
    tables = {table.name: table for table in load_tables([SHIPPED])}

    assert sorted(tables) == ["category", "date", "event", "listing", "sale", "user", "venue"]
    assert tables["sale"].topic == "tickit.ecomm.sale"
    assert tables["sale"].bronze_root == "topics/tickit.ecomm.sale"
    assert tables["sale"].table_type == "MERGE_ON_READ"
    assert tables["category"].table_type == "COPY_ON_WRITE"
    assert tables["user"].key_fields == ("userid",)
    assert {table.ordering_field for table in tables.values()} == {"__kafka_offset"}


def test_a_table_wins_over_what_it_includes_and_overrides_win_over_both(folder: Path) -> None:
    file = folder / "tickit.ecomm.sale.properties"
    file.write_text(TABLE + "lab.deletes=hard\n")

    assert load_tables([folder])[0].deletes == "hard"
    assert load_tables([file], overrides={"lab.deletes": "soft"})[0].deletes == "soft"


def test_hoodie_keys_are_handed_on_and_lab_keys_are_not(folder: Path) -> None:
    hoodie = load_tables([folder])[0].hoodie

    assert hoodie["hoodie.index.type"] == "BUCKET"
    assert not [key for key in hoodie if key.startswith("lab.")]


def test_records_between_compactions_are_counted_by_bucket(folder: Path) -> None:
    file = folder / "tickit.ecomm.sale.properties"
    file.write_text(f"{TABLE}lab.compact.after.records=100\nhoodie.bucket.index.num.buckets=4\n")

    assert load_tables([file])[0].compact_after_records == 400


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("lab.delete=hard", "unknown key `lab.delete`"),
        ("hodie.table.name=x", "unknown key `hodie.table.name`"),
        ("lab.deletes=maybe", r"lab.deletes=maybe is not allowed.*soft or hard"),
        ("hoodie.datasource.write.table.type=COW", "table type COW is unknown"),
        ("hoodie.table.name=Sale!", "`Sale!` is no table name"),
        ("hoodie.streamer.source.kafka.topic=", "lacks hoodie.streamer.source.kafka.topic"),
        ("hoodie.compact.inline.max.delta.commits=0", "is no count"),
        ("lab.compact.after.records=few", "is no count"),
        ("lab.keep.minutes=-1", "is no count.*0 or more"),
        ("just words", r"properties:8: `just words` is not `key=value`"),
    ],
)
def test_a_wrong_line_is_refused_with_file_and_reason(
    folder: Path, line: str, message: str
) -> None:
    file = folder / "tickit.ecomm.sale.properties"
    file.write_text(f"{TABLE}\n{line}\n")

    with pytest.raises(ConfigurationError, match=message) as refused:
        load_tables([folder])

    assert str(file) in str(refused.value)


def test_an_unknown_table_is_named_with_the_known_ones(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"describes sales.*Choose from sale"):
        load_tables([folder], only=["sales"])


def test_one_table_in_two_files_is_refused(folder: Path) -> None:
    (folder / "tickit.ecomm.copy.properties").write_text(TABLE)

    with pytest.raises(ConfigurationError, match="Two properties files describe the table sale"):
        load_tables([folder])


def test_files_that_include_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text("include=b.properties\n")
    (tmp_path / "b.properties").write_text("include=a.properties\n")

    with pytest.raises(ConfigurationError, match="includes itself"):
        read_properties(tmp_path / "a.properties")


def test_a_missing_include_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.properties").write_text("include=nowhere.properties\n")

    with pytest.raises(ConfigurationError, match=r"nowhere\.properties cannot be read"):
        read_properties(tmp_path / "a.properties")


def test_a_folder_without_tables_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="holds no <prefix>"):
        load_tables([tmp_path])


@pytest.mark.parametrize(
    "generator", ["SimpleKeyGenerator", "ComplexKeyGenerator", "NonpartitionedKeyGenerator"]
)
def test_a_partition_field_is_refused_and_the_error_says_what_to_write(
    folder: Path, generator: str
) -> None:
    file = folder / "tickit.ecomm.sale.properties"
    name = "hoodie.datasource.write.keygenerator.class=org.apache.hudi.keygen"
    field = "hoodie.datasource.write.partitionpath.field="
    file.write_text(f"{TABLE}{name}.{generator}\n{field}eventid\n")

    with pytest.raises(ConfigurationError) as caught:
        load_tables([folder])

    assert f"{file}: {field}eventid " in caught.value.what
    assert f"{field} (empty) and {name}.NonpartitionedKeyGenerator" in caught.value.hint
    file.write_text(f"{TABLE}{name}.NonpartitionedKeyGenerator\n{field}\n")
    assert load_tables([folder])


def test_what_is_kept_grows_with_the_commits_there_are_in_the_time_that_is_kept() -> None:
    (table,) = load_tables([SHIPPED], only=["sale"])
    keys = [
        "hoodie.clean.commits.retained",
        "hoodie.keep.min.commits",
        "hoodie.keep.max.commits",
    ]
    few, many = table.retaining(5), table.retaining(1_000)

    assert few == {key: table.hoodie[key] for key in keys}
    assert many[keys[0]] == "1000"
    assert {int(many[key]) - int(few[key]) for key in keys} == {970}
