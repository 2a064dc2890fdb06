"""The tables' properties files: HoodieStreamer's format, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakecontract.errors import ConfigurationError
from lakecontract.properties import load_tables, read_properties

SHIPPED = Path(__file__).parents[3] / "spark" / "properties"

BASE = """\
# shared
hoodie.database.name=tickit
hoodie.datasource.write.keygenerator.class=org.apache.hudi.keygen.NonpartitionedKeyGenerator
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

    names = ["category", "date", "event", "listing", "sale", "user", "venue"]
    assert sorted(tables) == [f"tickit.{name}" for name in names]
    assert tables["tickit.sale"].topic == "tickit.ecomm.sale"
    assert tables["tickit.sale"].path == "tickit/sale"
    assert tables["tickit.sale"].bronze_root == "topics/tickit.ecomm.sale"
    assert tables["tickit.sale"].table_type == "MERGE_ON_READ"
    assert tables["tickit.category"].table_type == "COPY_ON_WRITE"
    assert tables["tickit.user"].key_fields == ("userid",)
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
        ("hoodie.metadata.index.async=TRUE", r"async=TRUE is not allowed: .*no commit succeeds"),
        ("lab.deletes=maybe", r"lab.deletes=maybe is not allowed.*soft or hard"),
        ("hoodie.datasource.write.table.type=COW", "table type COW is unknown"),
        ("hoodie.table.name=Sale!", r"properties:8: hoodie.table.name=Sale! is no name"),
        ("hoodie.database.name=a-b", r"properties:8: hoodie.database.name=a-b is no name"),
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
    with pytest.raises(ConfigurationError, match=r"describes sales.*Choose from tickit.sale"):
        load_tables([folder], only=["sales"])


def test_one_table_in_two_files_is_refused(folder: Path) -> None:
    (folder / "tickit.ecomm.copy.properties").write_text(TABLE)

    files = [folder / f"tickit.ecomm.{name}.properties" for name in ("copy", "sale")]
    message = f"{files[0]}:2 and {files[1]}:2 both describe the table tickit.sale"
    with pytest.raises(ConfigurationError, match=re.escape(message)):
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
    with pytest.raises(ConfigurationError, match="holds no <topic>"):
        load_tables([tmp_path])
    shared = tmp_path / "base.properties"
    shared.write_text("hoodie.index.type=BUCKET\n")
    with pytest.raises(ConfigurationError, match=rf"{shared} describes no table") as refused:
        load_tables([tmp_path])
    assert "write one with hoodie.table.name" in str(refused.value)


@pytest.mark.parametrize("key", ["hoodie.database.name", "hoodie.datasource.hive_sync.database"])
def test_a_table_is_in_the_database_that_its_properties_name(folder: Path, key: str) -> None:
    (folder / "eu.shop.public.sale.properties").write_text(f"{TABLE}{key}=shop\n")

    assert [table.name for table in load_tables([folder])] == ["shop.sale", "tickit.sale"]
    (shop,) = load_tables([folder], only=["shop.sale"])
    assert shop.path == "shop/sale"
    assert shop.hoodie["hoodie.database.name"] == "shop"
    with pytest.raises(ConfigurationError, match=r"sale is the name of shop.sale and tickit.sale"):
        load_tables([folder], only=["sale"])


def test_a_topic_may_have_any_number_of_parts(folder: Path) -> None:
    (folder / "orders.properties").write_text(TABLE.replace("name=sale", "name=orders"))

    assert [table.name for table in load_tables([folder])] == ["tickit.orders", "tickit.sale"]


def _partitioned(fields: str, *lines: str, keys: str = "salesid") -> str:
    simple = "," not in f"{fields}{keys}"
    return TABLE.replace("=salesid", f"={keys}") + "\n".join(
        [
            f"hoodie.datasource.write.partitionpath.field={fields}",
            "hoodie.datasource.write.keygenerator.class=org.apache.hudi.keygen."
            f"{'Simple' if simple else 'Complex'}KeyGenerator",
            *lines,
        ]
    )


@pytest.mark.parametrize(
    ("fields", "keys"), [("eventid", "salesid"), ("a, b", "salesid"), ("eventid", "a,b")]
)
def test_a_table_in_partitions(folder: Path, fields: str, keys: str) -> None:
    (folder / "tickit.ecomm.sale.properties").write_text(_partitioned(fields, keys=keys))

    (table,) = load_tables([folder])

    assert table.partition_fields == tuple(fields.replace(" ", "").split(","))
    assert table.hoodie["hoodie.datasource.write.hive_style_partitioning"] == "true"
    assert table.hoodie["hoodie.datasource.write.partitionpath.urlencode"] == "true"
    assert table.in_one_piece().partition_fields == ()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ["hoodie.datasource.write.keygenerator.class=a.NonpartitionedKeyGenerator"],
            r":7: .*field=eventid has no effect .*Write .*\.SimpleKeyGenerator",
        ),
        (["hoodie.datasource.write.partitionpath.urlencode=false"], r":9: .*is not supported"),
        (["hoodie.datasource.write.hive_style_partitioning=false"], r":9: .*is not supported"),
        (["hoodie.index.type=GLOBAL_BLOOM"], r":9: .*is not supported.*hoodie.index.type=BUCKET"),
        (["hoodie.datasource.write.partitionpath.field="], r":8: .*needs a column"),
    ],
)
def test_partitions_that_rows_could_be_lost_in_are_refused(
    folder: Path, lines: list[str], message: str
) -> None:
    file = folder / "tickit.ecomm.sale.properties"
    file.write_text(_partitioned("eventid", *lines))

    with pytest.raises(ConfigurationError, match=message) as refused:
        load_tables([folder])

    assert str(file) in str(refused.value)


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


def test_a_tables_digest_is_of_what_is_said_and_not_of_where(folder: Path, tmp_path: Path) -> None:
    file = folder / "tickit.ecomm.sale.properties"
    (said,) = load_tables([file])
    file.write_text(f"# why\n{TABLE}")
    assert load_tables([file])[0].digest == said.digest
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / file.name).write_text(TABLE)
    (elsewhere / "base.properties").write_text(BASE)
    assert load_tables([elsewhere])[0].digest == said.digest
    file.write_text(f"{TABLE}lab.deletes=hard\n")
    assert load_tables([file])[0].digest != said.digest


def test_a_wrong_value_is_named_where_it_stands(folder: Path) -> None:
    (folder / "base.properties").write_text(BASE.replace("lab.deletes=soft", "lab.deletes=never"))
    with pytest.raises(ConfigurationError, match=r"base\.properties:6: lab\.deletes=never is not"):
        load_tables([folder])
