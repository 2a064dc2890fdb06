"""The sink connector's JSON: read as the connector reads it, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakecontract.bronze_partitioner import Partitioner
from lakecontract.errors import ConfigurationError
from lakecontract.sink_config import load_sink_config, sink_problems
from lakecontract.sink_keys import SINK_KEYS

CONNECTORS = Path(__file__).parents[3] / "connectors"
SHIPPED = CONNECTORS / "sink_connector_kafka_s3_avro_tickit.json"


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    folder = tmp_path / "secrets" / "demo"
    folder.mkdir(parents=True)
    (folder / "objectstore").write_text(
        "url=http://127.0.0.1:9000\nregion=us-east-1\nbucket=lake\naccess.key=a\nsecret.key=s\n"
        "rotate.schedule.interval.ms=500\n"
    )
    (folder / "registry").write_text("url=http://127.0.0.1:8080\n")
    return folder.parent


def changed(tmp_path: Path, **values: str | None) -> Path:
    config = json.loads(SHIPPED.read_text())
    for key, value in values.items():
        name = key.replace("__", ".")
        if value is None:
            config.pop(name, None)
        else:
            config[name] = value
    file = tmp_path / "sink.json"
    file.write_text(json.dumps(config))
    return file


def test_the_shipped_file_is_honoured(secrets: Path) -> None:
    config = load_sink_config(SHIPPED, secrets)

    assert config.bucket == "lake"
    assert config.topics_dir == "topics"
    assert config.rotate_schedule_interval_ms == 500
    assert config.rotate_interval_ms == 60_000
    assert config.flush_size == 10_000
    assert config.codec == "deflate"
    assert not config.tolerate_errors
    assert config.position_fields == (
        "__kafka_partition",
        "__kafka_offset",
        "__kafka_timestamp",
    )


def test_moma_is_written_by_partition(secrets: Path) -> None:
    config = load_sink_config(CONNECTORS / "sink_connector_moma_kafka_s3.json", secrets)

    assert config.name == "sink_connector_moma_kafka_s3"
    assert config.topics_regex == r"moma\.public\.artists|moma\.public\.artworks"
    assert config.partitioner == Partitioner()
    assert config.flush_size == 10_000
    assert config.rotate_interval_ms is None
    assert config.rotate_on_folder_change


@pytest.mark.parametrize(
    ("values", "one_file", "interval"),
    [
        ({}, True, 60_000),
        ({"timestamp__extractor": "Wallclock"}, True, 60_000),
        ({"rotate__interval__ms": None}, True, None),
        ({"timestamp__extractor": "RecordField"}, True, 60_000),
        (
            {"timestamp__extractor": "RecordField", "rotate__file__on__partition__change": "false"},
            False,
            60_000,
        ),
        ({"timestamp__extractor": "RecordField", "rotate__interval__ms": "-1"}, False, None),
        # An interval is of the partitioner's time: it has none here.
        (
            {
                "partitioner__class": "io.confluent.connect.storage.partitioner.FieldPartitioner",
                "partition__field__name": "eventid",
            },
            False,
            None,
        ),
    ],
)
def test_how_many_files_a_partition_has_open(
    secrets: Path,
    tmp_path: Path,
    values: dict[str, str | None],
    one_file: bool,
    interval: int | None,
) -> None:
    config = load_sink_config(changed(tmp_path, **values), secrets)

    assert config.rotate_on_folder_change is one_file
    assert config.rotate_interval_ms == interval


def test_no_limit_on_the_time_between_records(secrets: Path, tmp_path: Path) -> None:
    assert load_sink_config(changed(tmp_path, rotate__interval__ms="-1"), secrets) is not None
    assert (
        load_sink_config(changed(tmp_path, rotate__interval__ms="-1"), secrets).rotate_interval_ms
        is None
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"format__class": "io.confluent.connect.s3.format.json.JsonFormat"}, "format.class="),
        (
            {"partitioner__class": "io.confluent.connect.storage.partitioner.FieldPartitioner"},
            "partition.field.name is missing",
        ),
        ({"timezone": "Europe/Atlantis"}, "timezone=Europe/Atlantis"),
        ({"timestamp__extractor": "Header"}, "timestamp.extractor=Header"),
        ({"rotate__file__on__partition__change": "no"}, "rotate.file.on.partition.change=no"),
        ({"avro__codec": "zstandard"}, r"avro.codec=zstandard.*null, deflate, snappy, bzip2"),
        ({"store__kafka__keys": "true"}, "store.kafka.keys"),
        ({"s3__ssea__name": "AES256"}, "s3.ssea.name=AES256 cannot be honoured, an empty value"),
        ({"s3__sse__customer__key": "hunter2"}, "s3.sse.customer.key cannot be honoured"),
        ({"transforms__position__topic__field": "t"}, "transforms.position.topic.field cannot"),
        ({"wholly__unknown": "1"}, "wholly.unknown cannot be honoured"),
        ({"topics": "a,b"}, "exactly one of topics and topics.regex"),
        ({"consumer__override__auto__offset__reset": "latest"}, "auto.offset.reset=latest"),
        ({"flush__size": "0"}, "flush.size=0"),
        ({"flush__size": None}, "flush.size is missing"),
        ({"rotate__schedule__interval__ms": None}, "rotate.schedule.interval.ms is missing"),
        ({"file__delim": "-"}, "file.delim=- cannot be honoured"),
        (
            {"transforms__position__offset__field": "__kafka_offset"},
            r"__kafka_offset! \(a position is never missing\)",
        ),
        ({"s3__bucket__name": "${secretManager:demo/objectstore:nobucket}"}, "`nobucket`"),
        ({"s3__bucket__name": "${secretManager:demo/nowhere:bucket}"}, "cannot be read"),
    ],
)
def test_what_cannot_be_honoured_is_refused(
    secrets: Path, tmp_path: Path, values: dict[str, str | None], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        load_sink_config(changed(tmp_path, **values), secrets)


def test_a_file_that_is_no_json_is_refused(secrets: Path, tmp_path: Path) -> None:
    file = tmp_path / "sink.json"
    file.write_text("{")

    with pytest.raises(ConfigurationError, match="is no JSON"):
        load_sink_config(file, secrets)


def test_every_key_of_the_connector_that_changes_nothing_passes() -> None:
    values = {key: str(value) for key, value in json.loads(SHIPPED.read_text()).items()}
    defaults = {
        "allow.optional.map.keys": "false",
        "directory.delim": "/",
        "file.delim": "+",
        "filename.offset.zero.pad.width": "10",
        "report.null.values.to.dlq": "false",
        "s3.compression.type": "none",
        "s3.object.tagging": "false",
        "s3.schema.partition.affix.type": "NONE",
        "store.kafka.headers": "false",
        "store.kafka.keys": "false",
        "rotate.file.on.partition.change": "true",
    }
    for key in SINK_KEYS - values.keys():
        empty = "" if key.startswith(("s3.sse", "s3.acl")) else "1"
        assert sink_problems({**values, key: defaults.get(key, empty)}) == []
    kept = {
        "consumer.override.max.poll.records": "9",
        "key.converter.apicurio.registry.use-id": "x",
    }
    assert sink_problems({**values, **kept}) == []


def test_all_mistakes_are_told_at_once_and_no_secret(secrets: Path, tmp_path: Path) -> None:
    file = changed(
        tmp_path, flush__size="0", timezone="Europe/Atlantis", s3__sse__customer__key="hunter2"
    )
    with pytest.raises(ConfigurationError) as raised:
        load_sink_config(file, secrets)
    for key in ("flush.size", "timezone", "s3.sse.customer.key"):
        assert key in raised.value.what
    assert "hunter2" not in raised.value.what


def test_connects_own_form_and_listed_topics(secrets: Path, tmp_path: Path) -> None:
    content = json.loads(SHIPPED.read_text())
    del content["topics.regex"]
    content |= {"topics": "tickit.ems.event, tickit.crm.user", "flush.size": 500}
    file = tmp_path / "sink.json"
    file.write_text(json.dumps({"name": "sink", "config": content}))

    config = load_sink_config(file, secrets)

    assert config.flush_size == 500
    assert config.topics_regex == r"tickit\.ems\.event|tickit\.crm\.user"
