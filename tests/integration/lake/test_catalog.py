"""A catalog's definitions of Hudi tables, held to Hudi's own sync: its classes in the bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from labctl.lake import Lake
from labctl.lake.table_source import LakeSource
from sqlapi.catalog.spark_schema import schema_in
from sqlapi.catalog.table_inputs import names_of, partition_values, table_input
from sqlapi.source import SourceTable
from tests.integration.lake.tables import COW, MOR, HudiTable
from tests.integration.lake.test_partitions import ODD, ODDER, Museum, museum_config

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


SCHEMA = (
    "salesid int not null, bigNumber bigint, f float, d double, b binary, dec decimal(38,10), "
    "st struct<Scale:int,value:binary>, arr array<string>, ts timestamp, "
    "dt date, flag boolean, __kafka_offset bigint not null"
)


class HudiSync:
    """What AwsGlueCatalogSyncTool would write of a table, by the functions that it calls."""

    def __init__(self, spark: SparkSession, table: SourceTable) -> None:
        jvm: Any = spark.sparkContext._jvm
        context: Any = spark.sparkContext._jsc
        self._hudi = jvm.org.apache.hudi
        self._table = table
        self._keys = jvm.java.util.ArrayList()
        for key in table.partition_keys:
            self._keys.add(key)
        conf = self._hudi.hadoop.fs.HadoopFSUtils.getStorageConf(context.hadoopConfiguration())
        builder = self._hudi.common.table.HoodieTableMetaClient.builder()
        client = builder.setConf(conf).setBasePath(table.location).build()
        self._schema = self._hudi.common.table.TableSchemaResolver(client).getTableSchema(True)

    def columns(self) -> dict[str, str]:
        util = self._hudi.hive.util.HiveSchemaUtil
        found = dict(util.hoodieSchemaToMapSchema(self._schema, True, False))
        return {name.lower(): kind.lower() for name, kind in found.items()}

    def parameters(self) -> dict[str, str]:
        util = self._hudi.sync.common.util.SparkDataSourceTableUtils
        return dict(util.getSparkTableProperties(self._keys, "", 4000, self._schema))

    def serde(self, optimized: bool) -> dict[str, str]:
        util = self._hudi.sync.common.util.SparkDataSourceTableUtils
        return dict(util.getSparkSerdeProperties(optimized, self._table.location))

    def formats(self, realtime: bool) -> tuple[str, str, str]:
        util = self._hudi.hadoop.utils.HoodieInputFormatUtils
        parquet = self._hudi.common.model.HoodieFileFormat.PARQUET
        return (
            util.getInputFormatClassName(parquet, realtime, False),
            util.getOutputFormatClassName(parquet),
            util.getSerDeClassName(parquet),
        )

    def values(self, partition: str) -> list[str]:
        return list(
            self._hudi.hive.MultiPartKeysValueExtractor().extractPartitionValuesInPath(partition)
        )


def check(spark: SparkSession, lake: Lake, name: str) -> None:
    source = LakeSource(lake)
    (table,) = [t for t in source.tables() if t.name == name]
    expected = HudiSync(spark, table)
    for called, view in names_of(table).items():
        made = table_input(called, table, view, source.schema(table))
        storage = made["StorageDescriptor"]
        columns = [*storage["Columns"], *made["PartitionKeys"]]
        assert {c["Name"]: c["Type"] for c in columns} == expected.columns()
        parameters = expected.parameters()
        assert schema_in(made["Parameters"]) == schema_in(parameters)
        own = {k: v for k, v in made["Parameters"].items() if k.startswith("spark.")}
        assert {k: v for k, v in own.items() if ".part." not in k} == {
            k: v for k, v in parameters.items() if ".part." not in k
        }
        serde = expected.serde(view.read_optimized) | {"serialization.format": "1"}
        assert storage["SerdeInfo"]["Parameters"] == serde
        realtime = table.kind == MOR and not view.read_optimized
        formats = expected.formats(realtime)
        library = storage["SerdeInfo"]["SerializationLibrary"]
        assert (storage["InputFormat"], storage["OutputFormat"], library) == formats


def test_a_table_of_every_type(spark: SparkSession, lake: Lake) -> None:
    table = HudiTable(spark, lake.storage.spark_uri, "for_catalog", COW)
    table.write(spark.createDataFrame([(1, *(None,) * 10, 1)], SCHEMA))
    check(spark, lake, "for_catalog")


def test_a_table_in_partitions(spark: SparkSession, lake: Lake, tmp_path: Path) -> None:
    museum = Museum(spark, lake, museum_config(tmp_path, "catalogued", MOR))
    museum.commit(*((key, place, "u") for key, place in enumerate((*ODD[2:6], *ODDER[:2], None))))
    check(spark, lake, "catalogued")
    source = LakeSource(lake)
    (table,) = [t for t in source.tables() if t.name == "catalogued"]
    folders = source.partitions(table)
    assert "place=a%2Fb" in folders
    assert len(folders) == 5  # null and "" share one
    sync = HudiSync(spark, table)
    assert [partition_values(folder) for folder in folders] == [sync.values(f) for f in folders]
