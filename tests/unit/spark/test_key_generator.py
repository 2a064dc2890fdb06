"""Which class makes a table's record keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql.types import IntegerType, StringType, StructField, StructType

from lakecontract.errors import ConfigurationError
from lakecontract.partitions import KEY_GENERATOR, NONPARTITIONED
from lakecontract.properties import TableConfig, load_tables
from lakehouse.key_generator import KeyGenerator

TEXT = StructType([StructField("id", StringType())])
NUMBER = StructType([StructField("id", IntegerType())])
OWN = "lakehouse.NonpartitionedKeys"


class Jvm:
    """Spark's, with or without a class that Hudi can find."""

    def __init__(self, *, has_it: bool = True) -> None:
        self.has_it = has_it

    def __getattr__(self, _name: str) -> Jvm:
        return self

    def getClass(self, _name: str) -> None:  # noqa: N802 - Java's
        if not self.has_it:
            raise RuntimeError("ClassNotFoundException")


class Noted:
    """What a table says of itself."""

    def __init__(self, name: str | None) -> None:
        self.name = name

    def getKeyGeneratorClassName(self) -> str | None:  # noqa: N802 - Java's
        return self.name


@pytest.fixture
def config(tmp_path: Path) -> TableConfig:
    file = tmp_path / "shop.public.tag.properties"
    given = {
        "hoodie.database.name": "shop",
        "hoodie.table.name": "tag",
        "hoodie.datasource.write.table.type": "MERGE_ON_READ",
        "hoodie.datasource.write.recordkey.field": "id",
        "hoodie.table.ordering.fields": "__kafka_offset",
        "hoodie.streamer.source.kafka.topic": "shop.public.tag",
        "hoodie.streamer.source.dfs.root": "topics/shop.public.tag",
        KEY_GENERATOR: NONPARTITIONED,
    }
    file.write_text("".join(f"{key}={value}\n" for key, value in given.items()), encoding="utf-8")
    (table,) = load_tables([file])
    return table


def test_a_new_table_has_the_own_class_for_a_key_of_text(config: TableConfig) -> None:
    generator = KeyGenerator(Jvm(), config)
    assert generator.keys.are_distinct
    assert generator.options(NUMBER) == {}
    assert generator.options(TEXT) == {KEY_GENERATOR: OWN}
    generator.written(TEXT)
    assert generator.is_known
    assert generator.is_as_new(TEXT)
    # Whatever its rows look like from then on.
    assert generator.options(NUMBER) == {KEY_GENERATOR: OWN}
    assert generator.described_by(config).options(NUMBER) == {KEY_GENERATOR: OWN}


def test_a_table_of_hudis_own_class_keeps_it_until_it_is_removed(config: TableConfig) -> None:
    generator = KeyGenerator(Jvm(), config)
    keys = generator.keys
    generator.read(Noted(NONPARTITIONED))
    assert generator.options(TEXT) == {}
    assert not generator.is_as_new(TEXT)
    assert generator.is_as_new(NUMBER)
    assert not keys.are_distinct
    generator.written(TEXT)
    assert generator.options(TEXT) == {}
    generator.forget()
    assert keys.are_distinct
    assert generator.options(TEXT) == {KEY_GENERATOR: OWN}


def test_without_the_classes_hudis_own_is_used_and_keys_are_put_aside(config: TableConfig) -> None:
    generator = KeyGenerator(Jvm(has_it=False), config)
    assert generator.options(TEXT) == {}
    assert not generator.keys.are_distinct
    generator.read(Noted(None))
    assert generator.is_as_new(TEXT)
    for known in (OWN, "lakehouse.SimpleKeys"):
        with pytest.raises(ConfigurationError, match=r"not on Spark's class path.*lakehouse\.jar"):
            generator.read(Noted(known))
