"""How clients log in to Kafka: librdkafka's and Java's settings, and what connectors refer to."""

from __future__ import annotations

import pytest
from pydantic import SecretStr

from labctl.config.endpoints import Kafka
from labctl.config.kafka_clients import (
    LOGIN_KEYS,
    client_settings,
    java_login,
    java_settings,
    login_values,
    plain_module,
)
from labctl.errors import ExitCode, LabError

PLAIN = Kafka(
    bootstrap_servers="b:1", authentication="plain", user="labctl", password=SecretStr('a"b\\c')
)


def test_a_lab_here_logs_in_with_a_password() -> None:
    assert client_settings(PLAIN) == {
        "bootstrap.servers": "b:1",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanisms": "PLAIN",
        "sasl.username": "labctl",
        "sasl.password": 'a"b\\c',
    }
    assert java_settings(PLAIN) == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": (
            "org.apache.kafka.common.security.plain.PlainLoginModule required "
            'username="labctl" password="a\\"b\\\\c";'
        ),
    }
    assert plain_module("labctl", "x").endswith(' username="labctl" password="x" user_labctl="x";')


@pytest.mark.parametrize("kind", ["plain", "scram"])
def test_a_login_without_a_password_is_refused(kind: str) -> None:
    kafka = PLAIN.model_copy(update={"authentication": kind, "password": None})
    for settings in (client_settings, java_settings):
        with pytest.raises(LabError, match="want a user and a password") as raised:
            settings(kafka)
        assert raised.value.exit_code is ExitCode.USAGE


@pytest.mark.parametrize("kind", ["none", "tls", "iam", "plain", "scram"])
def test_a_connector_finds_a_value_for_every_key_of_a_login(kind: str) -> None:
    login = java_login(kind, "u", "p")  # type: ignore[arg-type]
    values = login_values(login)
    assert tuple(values) == LOGIN_KEYS
    assert all(values.values())
    assert values.items() >= login.items()


def test_brokers_without_a_login_are_told_nothing_of_one() -> None:
    none = Kafka(bootstrap_servers="b:1")
    assert client_settings(none) == {"bootstrap.servers": "b:1"}
    assert java_settings(none) == {}
    assert java_login("tls") == {"security.protocol": "SSL"}
