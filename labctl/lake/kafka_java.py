"""The settings of a Java client of Kafka: what a properties file for one says."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.config.endpoints import Kafka

__all__ = ["MSK_IAM", "java_client_settings"]

MSK_IAM: Mapping[str, str] = MappingProxyType(
    {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "AWS_MSK_IAM",
        "sasl.jaas.config": "software.amazon.msk.auth.iam.IAMLoginModule required;",
        "sasl.client.callback.handler.class": (
            "software.amazon.msk.auth.iam.IAMClientCallbackHandler"
        ),
    }
)
"""A login as the default AWS credentials, by the classes of the part `msk-iam-auth`."""


def java_client_settings(kafka: Kafka) -> dict[str, str]:
    """Address and login. Holds a password where the brokers want one.

    Raises LabError for a SCRAM login without user or password.
    """
    settings = {"bootstrap.servers": kafka.bootstrap_servers}
    if kafka.authentication == "tls":
        return settings | {"security.protocol": "SSL"}
    if kafka.authentication == "iam":
        return {**settings, **MSK_IAM}
    if kafka.authentication == "scram":
        if kafka.user is None or kafka.password is None:
            raise LabError(
                "The brokers want a user and a password, and the profile names no secret for them",
                hint="set endpoints.kafka.secret in the profile",
                exit_code=ExitCode.USAGE,
            )
        return settings | {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": "SCRAM-SHA-512",
            "sasl.jaas.config": _scram(kafka.user, kafka.password.get_secret_value()),
        }
    return settings


def _scram(user: str, password: str) -> str:
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return f"{module} required username={_quoted(user)} password={_quoted(password)};"


def _quoted(text: str) -> str:
    """As a value in a JAAS configuration."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
