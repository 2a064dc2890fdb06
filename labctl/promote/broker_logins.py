"""Authentication of clients to the brokers, and its port."""

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
"""Ports of MSK's brokers inside the VPC, by login. "none" is TLS without a login."""


def serverless(msk: MskSettings) -> bool:
    return msk.kind == "serverless"


def connect_authentication(msk: MskSettings) -> Login:
    """Return the login of Connect and Spark: IAM if the brokers accept it, else "none".

    MSK Connect supports no other login. The rule `broker_login` checks that the brokers accept one
    of the two.
    """
    return "iam" if "iam" in msk.authentication else "none"


def java_client(login: Login) -> dict[str, str]:
    """Return a Java client's properties for `login`. None of them is a secret."""
    return java_login("iam" if login == "iam" else "tls")
