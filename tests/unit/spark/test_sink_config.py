"""The sink connector's JSON: read as the connector reads it, or refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lakehouse.errors import ConfigurationError
from lakehouse.sink_config import load_sink_config

SHIPPED = Path(__file__).parents[3] / "connectors" / "sink_connector_kafka_s3_avro_tickit.json"


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
            del config[name]
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
            "partitioner.class=",
        ),
        ({"timezone": "Europe/Berlin"}, "timezone=Europe/Berlin"),
        ({"timestamp__extractor": "Wallclock"}, "timestamp.extractor=Wallclock"),
        ({"avro__codec": "zstandard"}, r"avro.codec=zstandard.*null, deflate, snappy, bzip2"),
        ({"flush__size": "0"}, "flush.size=0"),
        ({"flush__size": None}, "lacks flush.size"),
        ({"rotate__schedule__interval__ms": None}, "lacks rotate.schedule.interval.ms"),
        ({"file__delim": "-"}, "file.delim cannot be honoured"),
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
