"""Keys of older versions of Hudi and Debezium are read as what they mean, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.errors import LabError
from labctl.kafkaconnect.connector_files import read_connector
from labctl.kafkaconnect.keys import as_today
from labctl.kafkaconnect.keys.key_table import key_table
from labctl.kafkaconnect.topic_names import topic_of
from labctl.lab.connectors.key_remarks import unknown_hudi_keys
from lakecontract.errors import ConfigurationError
from lakecontract.older_keys import ORDERING, read_as_today
from lakecontract.properties import load_tables

TABLE = """\
hoodie.table.name=sale
hoodie.datasource.write.storage.type=MERGE_ON_READ
hoodie.datasource.write.recordkey.field=salesid
hoodie.datasource.write.precombine.field=__source_ts_ms
hoodie.deltastreamer.source.kafka.topic=tickit.ecomm.sale
hoodie.deltastreamer.source.dfs.root=s3://lake/topics/tickit.ecomm.sale/partition=0/
hoodie.datasource.hive_sync.database=tickit
"""
TOPIC = "hoodie.streamer.source.kafka.topic"
DESERIALIZER = "hoodie.deltastreamer.source.kafka.value.deserializer.class"
PAYLOAD = "hoodie.datasource.write.payload.class"
ROOT = "hoodie.streamer.source.dfs.root"


@pytest.mark.parametrize(
    ("key", "value", "today"),
    [
        ("hoodie.deltastreamer.source.kafka.topic", "a.b.c", {TOPIC: "a.b.c"}),
        ("hoodie.deltastreamer.source.dfs.root", "s3a://x/cdc/a.b.c/", {ROOT: "cdc/a.b.c"}),
        (ROOT, "topics/a.b.c", {ROOT: "topics/a.b.c"}),
        (
            "hoodie.deltastreamer.schemaprovider.registry.url",
            "http://r:8080/apis/ccompat/v6/subjects/a.b.c-value/versions/latest",
            {TOPIC: "a.b.c"},
        ),
        ("hoodie.datasource.hive_sync.table", "artists", {"hoodie.table.name": "artists"}),
        (
            "hoodie.datasource.hive_sync.database",
            "moma",
            {"hoodie.datasource.hive_sync.database": "moma"},
        ),
        ("hoodie.datasource.hive_sync.jdbcurl", "jdbc:hive2://h:10000", {}),
        ("hoodie.datasource.meta.sync.enable", "true", {}),
        ("hoodie.datasource.write.precombine.field", "updated", {ORDERING: "updated"}),
        ("hoodie.table.precombine.field", "__lsn", {ORDERING: "__kafka_offset"}),
        (DESERIALIZER, "io.confluent.kafka.serializers.KafkaAvroDeserializer", {}),
        (PAYLOAD, "org.apache.hudi.common.model.DefaultHoodieRecordPayload", {}),
        ("auto.offset.reset", "earliest", {}),
        ("sasl.jaas.config", "hunter2", {}),
        ("hoodie.index.type", "BUCKET", {"hoodie.index.type": "BUCKET"}),
    ],
)
def test_a_key_of_hudi_is_read_as_it_is_meant(key: str, value: str, today: dict[str, str]) -> None:
    reading = read_as_today({key: value})
    assert (reading.values, reading.problems) == (today, {})
    assert (key in reading.edits) == (today != {key: value})
    assert "hunter2" not in str([edit.sentence(key) for edit in reading.edits.values()])


@pytest.mark.parametrize(
    ("key", "value", "write"),
    [
        ("hoodie.deltastreamer.transformer.sql", "SELECT 1", "remove the key"),
        ("hoodie.deltastreamer.ingestion.tablesToBeIngested", "a.b", "remove this file"),
        ("hoodie.deltastreamer.source.dfs.root", "hdfs://n/topics", "topics/<topic>"),
        ("hoodie.streamer.checkpoint.force.skip", "true", "remove it"),
        ("hoodie.datasource.write.payload.class", "org.example.Mine", "remove the key"),
        ("hoodie.write.record.merge.mode", "CUSTOM", "write EVENT_TIME_ORDERING"),
        ("hoodie.write.record.merge.mode", "newest", "newest is none of the modes"),
        ("auto.offset.reset", "latest", "remove the key"),
        (DESERIALIZER, "Json", "write Avro"),
    ],
)
def test_a_key_of_hudi_that_is_not_clear_is_refused(key: str, value: str, write: str) -> None:
    assert write in read_as_today({key: value}).problems[key]


def test_a_key_in_two_forms_with_two_values_is_refused() -> None:
    both = {"hoodie.deltastreamer.source.kafka.topic": "a", TOPIC: "b"}
    assert "remove one" in next(iter(read_as_today(both).problems.values()))
    assert read_as_today(both | {TOPIC: "a"}).problems == {}


def test_what_names_the_topic_otherwise_gives_way_to_the_key_itself() -> None:
    url = "hoodie.deltastreamer.schemaprovider.registry.url"
    reading = read_as_today({url: "http://r/subjects/old.one-value/versions/1", TOPIC: "a.b.c"})
    assert reading.values == {TOPIC: "a.b.c"}
    assert "is left out" in reading.edits[url].sentence(url)


def test_a_properties_file_of_hudi_0_is_a_table_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "tickit.ecomm.sale.properties"
    path.write_text(TABLE)
    (table,) = load_tables([path])
    assert table.topic == "tickit.ecomm.sale"
    assert table.bronze_root == "topics/tickit.ecomm.sale"
    assert table.table_type == "MERGE_ON_READ"
    assert table.ordering_field == "__kafka_offset"
    assert [line.split(": ")[0] for line in table.older_keys] == [
        f"{path}:{number}" for number in (2, 4, 5, 6)
    ]
    path.write_text(TABLE + "hoodie.deltastreamer.transformer.sql=SELECT 1\n")
    with pytest.raises(ConfigurationError, match=rf"{path}:8: hoodie.deltastreamer.transformer"):
        load_tables([path])


MYSQL = "io.debezium.connector.mysql.MySqlConnector"
POSTGRES = "io.debezium.connector.postgresql.PostgresConnector"
SQLSERVER = "io.debezium.connector.sqlserver.SqlServerConnector"
UNWRAP = {
    "transforms": "unwrap",
    "transforms.unwrap.type": "io.debezium.transforms.ExtractNewRecordState",
}


@pytest.mark.parametrize(
    ("connector", "old", "today"),
    [
        (MYSQL, {"database.server.name": "t"}, {"topic.prefix": "t"}),
        (MYSQL, {"database.server.name": "t", "topic.prefix": "t"}, {"topic.prefix": "t"}),
        (MYSQL, {"database.whitelist": "a"}, {"database.include.list": "a"}),
        (POSTGRES, {"schema.blacklist": "a"}, {"schema.exclude.list": "a"}),
        (
            MYSQL,
            {"database.history.producer.security.protocol": "SSL"},
            {"schema.history.internal.producer.security.protocol": "SSL"},
        ),
        (
            MYSQL,
            {"database.history.store.only.monitored.tables.ddl": "true"},
            {"schema.history.internal.store.only.captured.tables.ddl": "true"},
        ),
        (
            MYSQL,
            {"database.history": "io.debezium.relational.history.MemoryDatabaseHistory"},
            {"schema.history.internal": "io.debezium.relational.history.MemorySchemaHistory"},
        ),
        (MYSQL, {"snapshot.mode": "schema_only"}, {"snapshot.mode": "no_data"}),
        (MYSQL, {"snapshot.new.tables": "off"}, {}),
        (POSTGRES, {"plugin.name": "wal2json_rds"}, {"plugin.name": "pgoutput"}),
        (POSTGRES, {"snapshot.mode": "exported"}, {"snapshot.mode": "initial"}),
        (POSTGRES, {"slot.drop_on_stop": "true"}, {"slot.drop.on.stop": "true"}),
        (POSTGRES, {"sanitize.field.names": "true"}, {"field.name.adjustment.mode": "avro"}),
        (POSTGRES, {"truncate.handling.mode": "skip"}, {"skipped.operations": "t"}),
    ],
)
def test_a_key_of_debezium_1_is_read_as_it_is_meant(
    connector: str, old: dict[str, str], today: dict[str, str]
) -> None:
    read = as_today({"connector.class": connector, **old})
    assert (read.config, read.problems) == ({"connector.class": connector, **today}, {})
    assert read.edits


@pytest.mark.parametrize(
    ("drop", "mode"), [("true", "rewrite"), ("false", "rewrite-with-tombstone"), (None, "rewrite")]
)
def test_the_two_keys_of_deletes_are_one_today(drop: str | None, mode: str) -> None:
    old = {"transforms.unwrap.delete.handling.mode": "rewrite"}
    if drop is not None:
        old["transforms.unwrap.drop.tombstones"] = drop
    read = as_today({"connector.class": MYSQL, **UNWRAP, **old})
    today = {"transforms.unwrap.delete.tombstone.handling.mode": mode}
    assert read.config == {"connector.class": MYSQL, **UNWRAP, **today}
    assert read.edits.keys() == old.keys()


@pytest.mark.parametrize("mode", ["drop", "none", None])
def test_deletes_that_silver_could_not_apply_are_refused(mode: str | None) -> None:
    key = f"transforms.unwrap.{'drop.tombstones' if mode is None else 'delete.handling.mode'}"
    read = as_today({"connector.class": MYSQL, **UNWRAP, key: mode or "true"})
    assert 'handling.mode": "rewrite"' in read.problems[key]


def test_a_topic_of_sql_server_keeps_its_name() -> None:
    old = {"database.dbname": "tickit", "database.server.name": "crm-1", **UNWRAP}
    read = as_today({"connector.class": SQLSERVER, **old})
    assert read.config["database.names"] == "tickit"
    assert topic_of(read.config, "crm", "user", database="tickit") == "crm-1.crm.user"
    assert "crm-1.<schema>.<table>" in read.edits["database.dbname"]


def test_two_names_with_two_values_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "source.json"
    path.write_text(
        f'{{"connector.class": "{MYSQL}",\n"topic.prefix": "a",\n"database.server.name": "b"}}'
    )
    with pytest.raises(LabError) as raised:
        read_connector(path)
    assert raised.value.what.startswith(f"{path}:3: database.server.name: it is topic.prefix today")


@pytest.mark.parametrize("connector", sorted(key_table().connectors))
def test_every_key_of_today_is_read_as_it_is(connector: str) -> None:
    keys = (key for key in key_table().connectors[connector] if "(" not in key)
    config = {**dict.fromkeys(keys, "x"), "connector.class": connector}
    assert as_today(config).config == config


def test_a_misspelt_key_of_hudi_is_told_with_its_line(tmp_path: Path) -> None:
    shared, file = tmp_path / "base.inc", tmp_path / "tickit.ecomm.sale.properties"
    shared.write_text("hoodie.clean.comits.retained=40\nhoodie.index.type=BUCKET\n")
    file.write_text(f"include=base.inc\n{TABLE}hoodie.nothing.has.this=1\n")
    (table,) = load_tables([file])
    assert [*unknown_hudi_keys(table)] == [
        f"{shared}:1: hoodie.clean.comits.retained: Hudi has no such key; did you mean "
        "hoodie.clean.commits.retained?",
        f"{file}:9: hoodie.nothing.has.this: Hudi has no such key, and nothing would read it; "
        "remove it",
    ]


def test_the_files_that_labctl_comes_with_have_no_unknown_keys() -> None:
    folder = Path(__file__).parents[2] / "spark/properties"
    for table in load_tables([folder, folder / "moma"]):
        assert [*unknown_hudi_keys(table)] == []
