"""Keys that no plugin reads are refused; values of password keys are shown nowhere."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import requests

from labctl.artifacts.lock import load_lock
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.apply import check_keys
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.connector_files import ConnectorFile, connector_files
from labctl.kafkaconnect.keys import (
    converter_keys,
    history_login,
    missing_truncates,
    truncate_keys,
    wrong_keys,
)
from labctl.kafkaconnect.keys.key_table import key_table
from labctl.kafkaconnect.redaction import hide_secrets

FILES = connector_files(Path(__file__).parents[2] / "connectors")
BY_ENGINE = {file.name.split("_")[2]: file.config for file in FILES}


def said(engine: str, **changes: str | None) -> list[str]:
    """What is wrong with an engine's own file after changes; a change to None takes a key away."""
    config = dict(BY_ENGINE[engine])
    for name, value in changes.items():
        key = name.replace("__", ".")
        config.pop(key, None)
        if value is not None:
            config[key] = value
    return list(wrong_keys(config))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_the_projects_files_have_only_keys_that_are_read(file: ConnectorFile) -> None:
    assert list(wrong_keys(file.config)) == []


@pytest.mark.parametrize("engine", ["postgres", "mysql", "mssql"])
def test_envelopes_that_nothing_turns_into_rows_are_refused(engine: str) -> None:
    kept = {
        key: value for key, value in BY_ENGINE[engine].items() if not key.startswith("transforms")
    }
    (problem,) = (one for one in wrong_keys(kept) if one.startswith("transforms"))
    written = dict(re.findall(r'"(transforms[^"]*)": "([^"]*)"', problem))
    # Further sentences ask for what every such transform needs.
    assert not [one for one in wrong_keys(kept | written) if "envelopes" in one]
    assert written["transforms"] == "unwrap"
    # A transform of the user's own may do it.
    own = {"transforms": "own", "transforms.own.type": "com.example.Flatten"}
    assert not [one for one in wrong_keys(kept | own) if "envelopes" in one]


def test_the_table_is_of_the_plugins_that_are_locked() -> None:
    locked = load_lock().artifacts
    made_from = key_table().versions
    assert made_from == {part: locked[part].version for part in made_from}, (
        "run python -m labctl.kafkaconnect.keys.relist"
    )


@pytest.mark.parametrize(
    ("engine", "key", "answer"),
    [
        ("postgres", "slot.nmae", "did you mean slot.name?"),
        ("postgres", "database.server.name", "use topic.prefix"),
        ("postgres", "schema.whitelist", "use schema.include.list"),
        ("postgres", "database.include.list", "use schema.include.list"),
        ("postgres", "binlog.buffer.size", "a key of io.debezium.connector.mysql.MySqlConnector"),
        ("mysql", "database.history.kafka.topic", "use schema.history.internal.kafka.topic"),
        ("mysql", "database.sslmode", "use database.ssl.mode"),
        ("mssql", "database.dbname", "use database.names"),
        (
            "mysql",
            "transforms.unwrap.delete.handling.mode",
            "use transforms.unwrap.delete.tombstone.handling.mode",
        ),
        ("mysql", "transforms.unwrp.type", "did you mean transforms.unwrap.type?"),
        ("mysql", "predicates.none.type", "unknown key"),
        ("mysql", "topic.creation.default.partitoins", "topic.creation.default.partitions?"),
        ("mysql", "producer.override.linger", "did you mean producer.override.linger.ms?"),
        ("postgres", "driver.socketTimout", "did you mean driver.socketTimeout?"),
        ("mssql", "key.converter.apicurio.registry.ulr", "key.converter.apicurio.registry.url?"),
        ("kafka", "flush.sise", "did you mean flush.size?"),
        ("kafka", "transforms.position.ofset.field", "transforms.position.offset.field?"),
        ("kafka", "wholly.different", "nothing would read it"),
    ],
)
def test_a_key_that_nothing_reads_is_named_with_the_right_one(
    engine: str, key: str, answer: str
) -> None:
    (problem,) = said(engine, **{key: "hunter2"})
    assert problem.startswith(f"{key}: ")
    assert answer in problem
    assert "hunter2" not in problem


@pytest.mark.parametrize(
    ("engine", "key"),
    [
        ("postgres", "heartbeat.action.query"),
        ("postgres", "driver.socketTimeout"),
        ("postgres", "column.mask.with.10.chars"),
        ("postgres", "column.mask.hash.SHA-256.with.salt.CzQMA0cB5K"),
        ("mysql", "schema.history.internal.producer.security.protocol"),
        ("mysql", "snapshot.select.statement.overrides.ecomm.sale"),
        ("mysql", "boolean.length.checker"),
        ("mysql", "transforms.unwrap.predicate"),
        ("mysql", "topic.creation.default.cleanup.policy"),
        ("mssql", "driver.applicationName"),
        ("mssql", "database.encrypt"),
        ("mssql", "value.converter.apicurio.registry.request.headers.authorization"),
        ("kafka", "consumer.override.max.poll.records"),
        ("kafka", "errors.deadletterqueue.topic.name"),
        ("kafka", "s3.part.retries"),
    ],
)
def test_a_key_that_a_plugin_reads_passes(engine: str, key: str) -> None:
    assert said(engine, **{key: "1"}) == []


def test_a_part_of_another_makers_decides_on_its_own_keys() -> None:
    changes = {
        "transforms": "truncates,unwrap,nulls,mine",
        "transforms.mine.type": "org.example.Mine",
    }
    assert said("mysql", **changes, **{"transforms.mine.anything": "1"}) == []
    assert list(wrong_keys({"connector.class": "org.example.Source", "any.key": "1"})) == []


def test_a_connector_that_could_not_create_its_topics_is_told_the_keys() -> None:
    problems = said(
        "postgres",
        topic__creation__default__partitions=None,
        topic__creation__default__replication__factor=None,
    )
    assert [problem.split(":")[0] for problem in problems] == [
        "topic.creation.default.replication.factor",
        "topic.creation.default.partitions",
    ]
    assert all('": "-1"' in problem for problem in problems)


def test_a_connector_whose_deletes_would_be_empty_records_is_told() -> None:
    key = "transforms.unwrap.delete.tombstone.handling.mode"
    assert said("mysql", **{key: "rewrite-with-tombstone"}) == []
    for mode in (None, "tombstone", "drop"):
        (problem,) = said("mysql", **{key: mode})
        assert problem.startswith(f"{key}: a delete would arrive as an empty record")


def test_a_connector_that_would_read_null_as_a_default_is_told() -> None:
    (unwraps,) = said("mysql", **{"transforms.unwrap.replace.null.with.default": "true"})
    assert unwraps.startswith("transforms.unwrap.replace.null.with.default: NULL would arrive as")
    chain, kind = said("mysql", **{"transforms": "truncates,unwrap", "transforms.nulls.type": None})
    assert chain.endswith('write "transforms": "truncates,unwrap,nulls"')
    assert kind.endswith('write "transforms.nulls.type": "labctl.NullStaysNull"')
    other = {
        "transforms": "truncates, unwrap, mine",
        "transforms.mine.type": "labctl.NullStaysNull",
    }
    assert said("mysql", **other, **{"transforms.nulls.type": None}) == []
    (order,) = said("mysql", **{"transforms": "truncates,nulls,unwrap"})
    assert order.endswith('write "transforms": "truncates,unwrap,nulls"')
    theirs = {"transforms": "truncates,unwrap,nulls", "transforms.nulls.type": "org.example.Theirs"}
    chain, kind = said("mysql", **theirs)
    assert chain.endswith('write "transforms": "truncates,unwrap,labctl-nulls,nulls"')
    assert kind.endswith('write "transforms.labctl-nulls.type": "labctl.NullStaysNull"')


def test_a_connector_that_would_send_zero_dates_as_other_dates_is_told() -> None:
    listed, kind = said("mysql", **{"converters": "boolean", "zeros.type": None})
    assert listed.endswith('write "converters": "boolean,zeros"')
    assert kind.endswith('write "zeros.type": "labctl.ZeroDates"')
    (driver,) = said("mysql", **{"driver.yearIsDateType": None})
    assert driver.endswith('write "driver.yearIsDateType": "false"')
    other = {"converters": "mine", "mine.type": "labctl.ZeroDates", "zeros.type": None}
    assert said("mysql", **other, **{"boolean.type": None, "boolean.selector": None}) == []


def test_a_connector_that_would_fail_at_a_decimal_of_another_scale_is_told() -> None:
    missing = {"converters": None, "numbers.type": None}
    listed, kind = said("mssql", **missing)
    assert listed.startswith("converters: the connector would fail when a decimal's scale changes")
    assert kind.endswith('write "numbers.type": "labctl.SpecialNumbers"')
    assert said("mssql", **missing, **{"decimal.handling.mode": "string"}) == []


OWN = ("numbers.type", "dates.type", "arrays.type")
"""Of PostgreSQL."""


def test_a_connector_that_would_send_numbers_and_dates_as_others_is_told() -> None:
    listed, kind = said("postgres", **{"converters": "dates,arrays", "numbers.type": None})
    assert listed.endswith('write "converters": "dates,arrays,numbers"')
    assert kind.endswith('write "numbers.type": "labctl.SpecialNumbers"')
    (date,) = said("postgres", **{"dates.type": None})
    assert date == (
        "dates.type: in the first load, the date 44 BC would arrive as AD 44, and in arrays "
        'always; write "dates.type": "labctl.OldDates"'
    )
    mine = {"converters": "x,y,z", "x.type": "labctl.OldDates", "y.type": "labctl.SpecialNumbers"}
    mine["z.type"] = "labctl.DeepArrays"
    assert said("postgres", **mine, **dict.fromkeys(OWN)) == []
    theirs = {"dates.type": "org.example.Dates"}
    listed, kind = said("postgres", **theirs)
    assert listed.endswith('write "converters": "numbers,dates,arrays,labctl-dates"')
    assert kind.endswith('write "labctl-dates.type": "labctl.OldDates"')


@pytest.mark.parametrize(
    ("modes", "needed"),
    [
        ({}, {*OWN}),
        ({"decimal.handling.mode": "string"}, {"dates.type", "arrays.type"}),
        ({"time.precision.mode": "adaptive"}, {*OWN}),
        ({"time.precision.mode": "isostring"}, {"numbers.type", "arrays.type"}),
        (
            {"decimal.handling.mode": "double", "time.precision.mode": "connect"},
            {"arrays.type"},
        ),
        ({"binary.handling.mode": "bytes"}, {*OWN}),
        ({"binary.handling.mode": "hex"}, {*OWN, "arrays.binary.handling.mode"}),
    ],
)
def test_a_converter_is_needed_where_it_writes_the_form_that_the_file_asks_for(
    modes: dict[str, str], needed: set[str]
) -> None:
    config = {"connector.class": BY_ENGINE["postgres"]["connector.class"], **modes}
    assert converter_keys(config).keys() - {"converters"} == needed
    assert ("converters" in converter_keys(config)) is bool(needed)


@pytest.mark.parametrize("engine", ["postgres", "mysql", "mssql"])
def test_files_that_labctl_comes_with_lack_nothing_for_truncates(engine: str) -> None:
    assert list(missing_truncates(BY_ENGINE[engine])) == []


def test_a_connector_that_leaves_truncates_out_is_told_the_keys() -> None:
    config = dict(BY_ENGINE["postgres"]) | {"transforms": "unwrap,truncates,nulls"}
    (order,) = missing_truncates(config)
    assert order.endswith('write "transforms": "truncates,unwrap,nulls"')
    config["transforms"] = "unwrap,nulls"
    del config["skipped.operations"], config["transforms.truncates.type"]
    assert truncate_keys(config, "unwrap") == {
        "skipped.operations": "none",
        "transforms": "truncates,unwrap,nulls",
        "transforms.truncates.type": "labctl.TruncateStays",
    }
    theirs = config | {"skipped.operations": "t,d", "transforms.truncates.type": "org.example.T"}
    assert truncate_keys(theirs | {"transforms": "unwrap,truncates"}, "unwrap") == {
        "skipped.operations": "d",
        "transforms": "labctl-truncates,unwrap,truncates",
        "transforms.labctl-truncates.type": "labctl.TruncateStays",
    }


@pytest.mark.parametrize("side", ["key", "value"])
def test_a_connector_whose_ids_would_be_taken_for_others_is_told(side: str) -> None:
    registry = f"{side}.converter.apicurio.registry."
    as_confluent, use_id = f"{registry}as-confluent", f"{registry}use-id"
    (problem,) = said("mysql", **{as_confluent: "true", use_id: "contentId"})
    assert problem.startswith(f"{use_id}: with as-confluent, ids must be global ids")
    assert said("mysql", **{as_confluent: "true", use_id: "globalId"}) == []
    assert said("mysql", **{as_confluent: "true"}) == []
    assert said("mysql", **{as_confluent: "false", use_id: "contentId"}) == []


def test_a_connector_whose_schema_history_could_not_log_in_is_told() -> None:
    for key, reference in history_login(BY_ENGINE["mysql"]).items():
        (problem,) = said("mysql", **{key: None})
        assert problem.startswith(f"{key}: missing")
        assert problem.endswith(f'write "{key}": "{reference}"')
        assert BY_ENGINE["mysql"][key] == reference
    assert history_login(BY_ENGINE["postgres"]) == {}


def test_all_mistakes_of_all_files_at_once_unless_allowed() -> None:
    files = [
        ConnectorFile(file.name, file.path, {**file.config, "slot.nmae": "x", "xyz": "y"})
        for file in FILES
    ]
    with pytest.raises(LabError) as raised:
        check_keys(files)
    assert raised.value.exit_code is ExitCode.USAGE
    assert len(raised.value.details) == 2 * len(FILES) - 1
    check_keys(files, ["slot.nmae", "xyz"])


def test_values_of_password_keys_are_hidden_in_what_connect_says() -> None:
    config = {
        "database.password": "hunter2",
        "aws.secret.access.key": "${secretManager:demo/objectstore:secret.key}",
        "tasks.max": "many",
    }
    assert hide_secrets("Invalid value hunter2, tasks.max many", config) == (
        "Invalid value ***, tasks.max many"
    )
    jaas = 'module required username="a" password="hunter2";'
    config = {"schema.history.internal.producer.sasl.jaas.config": jaas}
    assert "hunter2" not in hide_secrets(f"Invalid value {jaas} for it", config)
    for text in (f"sasl.jaas.config = {jaas}", jaas, json.dumps({"sasl.jaas.config": jaas})):
        assert "hunter2" not in hide_secrets(text)
    assert hide_secrets("jdbc:mysql://h/d?user=a&password=hunter2&x=1") == (
        "jdbc:mysql://h/d?user=a&password=***&x=1"
    )


class Answering(requests.Session):
    """Answers every request alike."""

    def __init__(self, status: int, content: object) -> None:
        super().__init__()
        self._answer = requests.Response()
        self._answer.status_code = status
        self._answer._content = json.dumps(content).encode()

    def request(self, *_: Any, **__: Any) -> requests.Response:
        return self._answer


def test_what_connect_repeats_of_a_configuration_is_not_passed_on() -> None:
    config = {"connector.class": "x", "database.password": "hunter2"}
    client = ConnectClient("http://127.0.0.1:1")
    client._session = Answering(400, {"message": f"cannot use {config}"})
    with pytest.raises(LabError) as raised:
        client.put("x", config)
    assert "hunter2" not in raised.value.what
    value = {"name": "database.password", "errors": ["Invalid value hunter2"]}
    client._session = Answering(200, {"configs": [{"value": value}]})
    assert client.validate(config) == {"database.password": ["Invalid value ***"]}


def test_a_notification_of_debezium_is_no_position(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connect keeps an offset for each record, also for one that has none."""
    read = {"partition": {"server": "s"}, "offset": {"commit_lsn": "1"}}
    answer = {"offsets": [{"partition": {}, "offset": {}}, read]}
    client = ConnectClient("http://127.0.0.1:1")
    monkeypatch.setattr(client, "_call", lambda *_: answer)
    assert client.offsets("c") == [read]
