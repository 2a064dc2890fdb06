"""Settings of this program's own Kafka clients (librdkafka's names)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labctl.errors import ExitCode, LabError

if TYPE_CHECKING:
    from labctl.config.endpoints import Kafka

__all__ = ["client_settings"]


def client_settings(kafka: Kafka) -> dict[str, Any]:
    """Addresses and login. Raises LabError for a SCRAM login without user or password."""
    settings: dict[str, Any] = {"bootstrap.servers": kafka.bootstrap_servers}
    if kafka.authentication == "tls":
        return settings | {"security.protocol": "SSL"}
    if kafka.authentication == "scram":
        if kafka.user is None or kafka.password is None:
            raise LabError(
                "The brokers want a user and a password, and the profile names no secret for them",
                hint="set endpoints.kafka.secret in the profile",
                exit_code=ExitCode.USAGE,
            )
        return settings | {
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": kafka.user,
            "sasl.password": kafka.password.get_secret_value(),
        }
    if kafka.authentication == "iam":
        region = kafka.region or "us-east-1"
        return settings | {
            "security.protocol": "SASL_SSL",
            "sasl.mechanisms": "OAUTHBEARER",
            "oauth_cb": lambda _config: _iam_token(region),
        }
    return settings


def _iam_token(region: str) -> tuple[str, float]:
    """A login as the default AWS credentials; the token, and when it ends (seconds since 1970)."""
    from aws_msk_iam_sasl_signer import MSKAuthTokenProvider

    token, expires_ms = MSKAuthTokenProvider.generate_auth_token(region)
    return token, expires_ms / 1000
