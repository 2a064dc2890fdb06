"""The lab's values in a service of the user's own, such as `{kafka.broker}` and `{orders.url}`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from urllib.parse import quote

from pydantic import SecretStr

from labctl.config.endpoints import Database, Endpoint, Endpoints
from labctl.errors import ExitCode, LabError
from labctl.sources import ENGINES

__all__ = ["Values", "endpoint_values", "fill", "lab_values", "uses"]

Values = Mapping[str, str | SecretStr]
"""A lab's values by placeholder, without braces. What is secret is a SecretStr."""

_PLACEHOLDER = re.compile(r"\{\{[^{}]*\}\}|\{([a-z][a-z0-9_-]*(?:\.[a-z0-9_-]+)+)\}")
"""A placeholder; or double braces, which stand for single ones."""
_INTERNAL = ("name",)
"""Fields that are no values of the lab."""


def lab_values(endpoints: Endpoints) -> dict[str, str | SecretStr]:
    """Return the values of a lab's services and sources.

    `kafka.broker` is the address of that endpoint, and `kafka.user` a field of the service. An
    engine's values are those of its first source, as the source's owner.
    """
    values: dict[str, str | SecretStr] = {}
    for service, addresses in endpoints.addresses.items():
        for endpoint, address in addresses.items():
            values |= endpoint_values(f"{service}.{endpoint}", address)
    for name, model in _models(endpoints):
        values |= {f"{name}.{key}": value for key, value in _fields(model)}
    for engine in ENGINES.values():
        if (client := endpoints.client_of(engine.name)) is not None:
            values |= _database(engine.name, engine.scheme, client)
    for name, source in endpoints.sources.items():
        values |= _database(name, ENGINES[source.engine].scheme, source)
    return values


def endpoint_values(prefix: str, address: str) -> dict[str, str]:
    """Return an endpoint's address, `host:port`, and its two parts."""
    host, _, port = address.rpartition(":")
    return {prefix: address, f"{prefix}.host": host, f"{prefix}.port": port}


def _models(endpoints: Endpoints) -> Iterator[tuple[str, Endpoint]]:
    for name in ("kafka", "connect", "registry", "objectstore", "silver"):
        yield name, getattr(endpoints, name)
    yield from endpoints.others.items()


def _fields(model: Endpoint) -> Iterator[tuple[str, str | SecretStr]]:
    """Yield a model's fields that are one value, by name."""
    for name in type(model).model_fields:
        match getattr(model, name):
            case str() | int() as value if name not in _INTERNAL:
                yield name, str(value)
            case SecretStr() as value:
                yield name, value


def _database(name: str, scheme: str, database: Database) -> dict[str, str | SecretStr]:
    texts = (database.user, database.password.get_secret_value(), database.database)
    user, password, path = (quote(text, safe="") for text in texts)
    url = f"{scheme}://{user}:{password}@{database.host}:{database.port}/{path}"
    values = dict(_fields(database)) | {"url": SecretStr(url)}
    return {f"{name}.{key}": value for key, value in values.items()}


def uses(text: str, name: str) -> bool:
    """Return whether a text has the placeholder `name`."""
    return any(match[1] == name for match in _PLACEHOLDER.finditer(text))


def fill(text: str, values: Values, *, place: str, secrets: bool = True) -> str:
    """Replace the placeholders in `text`, which stands at the key `place` of `lab.toml`.

    Raises LabError (USAGE) for an unknown placeholder, and for a secret unless `secrets` is set.
    """

    def value_of(match: re.Match[str]) -> str:
        name = match[1]
        if name is None:
            return match[0][1:-1]
        value = values.get(name)
        if value is None:
            close = get_close_matches(name, values, n=1, cutoff=0.5)
            raise LabError(
                f"lab.toml: {place}: the lab has no value {match[0]}",
                hint=(f"did you mean {{{close[0]}}}? " if close else "")
                + f"docs/services.md has them all; {{{match[0]}}} stands for {match[0]} itself",
                exit_code=ExitCode.USAGE,
            )
        if isinstance(value, str):
            return value
        if not secrets:
            raise LabError(
                f"lab.toml: {place}: {match[0]} is a secret, and every user of this machine can "
                "see a command line",
                hint="put it into `environment`",
                exit_code=ExitCode.USAGE,
            )
        return value.get_secret_value()

    return _PLACEHOLDER.sub(value_of, text)
