"""How clients log in to the brokers, and on which port."""

from __future__ import annotations

from typing import Literal

from labctl.config.aws import MskSettings
from labctl.config.kafka_clients import java_login

__all__ = [
    "CLIENT_PORTS",
    "Login",
    "connect_authentication",
    "java_client",
    "serverless",
]

Login = Literal["iam", "scram", "none"]

CLIENT_PORTS: dict[Login, int] = {"iam": 9098, "scram": 9096, "none": 9094}
"""Of MSK's brokers, inside the VPC. "none" is TLS without a login."""


def serverless(msk: MskSettings) -> bool:
    return msk.kind == "serverless"


def connect_authentication(msk: MskSettings) -> Login:
    """How Connect and Spark log in: IAM wherever the brokers take it, else not at all.

    MSK Connect knows nothing else; that there is one of the two is a rule's business.
    """
    return "iam" if "iam" in msk.authentication else "none"


def java_client(login: Login) -> dict[str, str]:
    """Properties of a Java client that logs in so. None of them is a secret."""
    return java_login("iam" if login == "iam" else "tls")
