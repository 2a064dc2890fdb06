"""The endpoints of a promoted lab's services, and the credentials for them."""

from __future__ import annotations

import json
from typing import Any, TypeVar

from pydantic import SecretStr

from labctl.config.aws import AwsProfile
from labctl.config.endpoints import (
    Connect,
    Database,
    Endpoints,
    Kafka,
    ObjectStore,
    Registry,
    Silver,
    source_databases,
)
from labctl.config.lab_config import LabConfig
from labctl.config.promoted import PromotedDatabase, PromotedEndpoints, PromotedKafka, PromotedStore
from labctl.errors import ExitCode, LabError

__all__ = ["aws_endpoints"]

T = TypeVar("T")


def aws_endpoints(config: LabConfig, profile: AwsProfile, written: PromotedEndpoints) -> Endpoints:
    """Return the endpoints that apply saved, overridden by the profile's own.

    Passwords are read from Secrets Manager. Raises LabError (NOT_READY) if a part's address is not
    known or a secret lacks a value.
    """
    promoted = profile.endpoints.over(written)
    secrets = _Secrets(profile.region)
    kafka = _known(promoted.kafka, "kafka")
    store = _known(promoted.objectstore, "the object store")
    servers = {name: secrets.database(server) for name, server in promoted.servers.items()}
    return Endpoints(
        servers=servers,
        sources=source_databases(config, servers),
        kafka=secrets.kafka(kafka, profile.region),
        connect=secrets.connect(promoted, profile.region),
        registry=Registry(url=promoted.registry_url or profile.registry.url.rstrip("/")),
        objectstore=secrets.store(store),
        silver=Silver(status_url=promoted.silver_status_url),
    )


def _known(value: T | None, part: str) -> T:
    if value is None:
        raise LabError(
            f"This profile does not say where {part} answers",
            hint="`labctl promote apply` finds out; or set it in the profile's endpoints",
            exit_code=ExitCode.NOT_READY,
        )
    return value


class _Secrets:
    """Reader of the values in Secrets Manager."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._client: Any = None

    def database(self, promoted: PromotedDatabase) -> Database:
        values = self._read(promoted.secret)
        return Database(
            host=promoted.host,
            port=promoted.port,
            user=self._value(values, "username", promoted.secret),
            password=SecretStr(self._value(values, "password", promoted.secret)),
            database=promoted.database,
        )

    def kafka(self, promoted: PromotedKafka, region: str) -> Kafka:
        if promoted.authentication not in ("scram", "plain") or promoted.secret is None:
            return Kafka(
                bootstrap_servers=promoted.bootstrap_servers,
                authentication=promoted.authentication,
                region=region,
            )
        values = self._read(promoted.secret)
        return Kafka(
            bootstrap_servers=promoted.bootstrap_servers,
            authentication=promoted.authentication,
            region=region,
            user=self._value(values, "username", promoted.secret),
            password=SecretStr(self._value(values, "password", promoted.secret)),
        )

    def connect(self, promoted: PromotedEndpoints, region: str) -> Connect:
        if promoted.connect_url is None:
            return Connect(url=f"msk-connect://{region}")
        if promoted.connect_secret is None:
            return Connect(url=promoted.connect_url)
        values = self._read(promoted.connect_secret)
        return Connect(
            url=promoted.connect_url,
            user=self._value(values, "username", promoted.connect_secret),
            password=SecretStr(self._value(values, "password", promoted.connect_secret)),
        )

    def store(self, promoted: PromotedStore) -> ObjectStore:
        values = self._read(promoted.secret) if promoted.secret else {}
        access, secret = values.get("access.key"), values.get("secret.key")
        return ObjectStore(
            endpoint_url=promoted.endpoint_url,
            region=promoted.region,
            access_key=SecretStr(access) if access else None,
            secret_key=SecretStr(secret) if secret else None,
            bucket=promoted.bucket,
        )

    def _read(self, name: str) -> dict[str, str]:
        from labctl.aws.session import Aws, aws_errors

        if self._client is None:
            self._client = Aws(self._region).client("secretsmanager")
        with aws_errors():
            text = self._client.get_secret_value(SecretId=name).get("SecretString", "")
        try:
            values: dict[str, str] = json.loads(text)
        except ValueError:
            values = {}
        return values

    @staticmethod
    def _value(values: dict[str, str], key: str, name: str) -> str:
        if key not in values:
            raise LabError(
                f"The secret {name} has no {key}",
                hint=f"it must be a JSON object with {key}",
                exit_code=ExitCode.NOT_READY,
            )
        return values[key]
