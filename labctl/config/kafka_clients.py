"""Settings of clients' logins to Kafka's brokers, by kind of login: librdkafka's, and Java's."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from labctl.config.endpoints import Kafka
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra

__all__ = [
    "LOGIN_KEYS",
    "client_settings",
    "java_login",
    "java_settings",
    "login_values",
    "plain_module",
]

_WITH_PASSWORD = MappingProxyType(
    {"scram": ("SASL_SSL", "SCRAM-SHA-512"), "plain": ("SASL_PLAINTEXT", "PLAIN")}
)
"""Protocol and mechanism of the logins that have a user and a password."""
_MODULES = MappingProxyType(
    {
        "plain": "org.apache.kafka.common.security.plain.PlainLoginModule",
        "scram": "org.apache.kafka.common.security.scram.ScramLoginModule",
    }
)
_UNUSED: Mapping[str, str] = MappingProxyType(
    {
        "security.protocol": "PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f"{_MODULES['plain']} required;",
        # What Kafka takes when the key is not there. An empty value would be no class.
        "sasl.client.callback.handler.class": (
            "org.apache.kafka.common.security.authenticator.SaslClientCallbackHandler"
        ),
    }
)
"""A value that changes nothing in a client whose login does not use the key."""
LOGIN_KEYS = tuple(_UNUSED)
"""Java's keys, as connector files refer to them: every one has a value whatever the login."""


def client_settings(kafka: Kafka) -> dict[str, Any]:
    """librdkafka's: addresses and login. Raises LabError for a login without user or password."""
    settings: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap_servers}
    if kafka.authentication == "tls":
        return settings | {"security.protocol": "SSL"}
    if kafka.authentication in _WITH_PASSWORD:
        user, password = _user(kafka)
        protocol, mechanism = _WITH_PASSWORD[kafka.authentication]
        return settings | {
            "security.protocol": protocol,
            "sasl.mechanisms": mechanism,
            "sasl.username": user,
            "sasl.password": password,
        }
    if kafka.authentication == "iam":
        region = kafka.region or "us-east-1"
        return settings | {
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "OAUTHBEARER",
            "oauth_cb": lambda _config: _iam_token(region),
        }
    return settings


def java_settings(kafka: Kafka) -> dict[str, str]:
    """Java's: the login. Raises LabError for one without user or password."""
    if kafka.authentication not in _WITH_PASSWORD:
        return java_login(kafka.authentication)
    return java_login(kafka.authentication, *_user(kafka))


def java_login(
    kind: Literal["none", "tls", "scram", "iam", "plain"], user: str = "", password: str = ""
) -> dict[str, str]:
    """Java's settings for a login of that kind. With a password, the value of one is a secret."""
    if kind == "iam":
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "AWS_MSK_IAM",
            "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
            "sasl.client.callback.handler.class": (
                "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
            ),
        }
    if kind in _WITH_PASSWORD:
        protocol, mechanism = _WITH_PASSWORD[kind]
        options = f"username={_quoted(user)} password={_quoted(password)}"
        return {
            "security.protocol": protocol,
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": f"{_MODULES[kind]} required {options};",
        }
    return {"security.protocol": "SSL"} if kind == "tls" else {}


def login_values(settings: Mapping[str, str]) -> dict[str, str]:
    """Java's `settings` with every one of `LOGIN_KEYS`, for those who refer to all of them."""
    return {**_UNUSED, **settings}


def plain_module(user: str, password: str) -> str:
    """Return the login module of a broker that lets in one user, and is itself that user."""
    options = f"username={_quoted(user)} password={_quoted(password)}"
    return f"{_MODULES['plain']} required {options} user_{user}={_quoted(password)};"


def _quoted(text: str) -> str:
    # The same escapes as in JSON.
    return json.dumps(text, ensure_ascii=False)


def _user(kafka: Kafka) -> tuple[str, str]:
    if kafka.user is None or kafka.password is None:
        raise LabError(
            "The brokers want a user and a password, and the profile names no secret for them",
            hint="set endpoints.kafka.secret in the profile",
            exit_code=ExitCode.USAGE,
        )
    return kafka.user, kafka.password.get_secret_value()


def _iam_token(region: str) -> tuple[str, float]:
    """Return a token for the default AWS credentials, and when it ends (s since 1970)."""
    require_extra("promote")
    from aws_msk_iam_sasl_signer import MSKAuthTokenProvider

    token, expires_ms = MSKAuthTokenProvider.generate_auth_token(region)
    return token, expires_ms / 1000
