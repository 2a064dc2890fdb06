"""The keys that a source connector's file needs in a lab: references to addresses, and topics."""

from __future__ import annotations

import re
from collections.abc import Mapping

from labctl.engine_names import EngineName
from labctl.importing.edits import Edits
from labctl.importing.registry_keys import use_registry
from labctl.kafkaconnect.keys import (
    converter_keys,
    history_login,
    null_keys,
    truncate_keys,
    unwrapping,
)
from labctl.kafkaconnect.keys.lists import names
from labctl.sources import ENGINES
from lakecontract.references import REFERENCE, reference

__all__ = ["complete_source", "schemas_of"]

_ADDRESS = {
    "database.hostname": "hostname",
    "database.port": "port",
    "database.user": "username",
    "database.password": "password",
}
"""Keys of the source's secret, by the connector's keys."""
_SAME = {
    "host": "hostname",
    "user": "username",
    "dbname": "database",
    "db": "database",
    "endpoint": "hostname",
    "pass": "password",
}
"""A lab's names of a secret's keys, by their names in other systems."""
_SERVERS = "schema.history.internal.kafka.bootstrap.servers"
_CLIENTS = ("schema.history.internal.producer.", "schema.history.internal.consumer.")
_DECIMALS = {
    "double": "is double: a decimal number can lose digits on its way, and `labctl verify` cannot "
    "compare it; precise keeps them",
    "string": "is string: decimal numbers are text in silver, which is neither added nor sorted as "
    "numbers are; precise keeps the type",
}
"""The form of decimal numbers, by the mode."""
_LISTS = ("table.include.list", "schema.include.list")
_PLAIN = re.compile(r"[\w$-]+")


def schemas_of(edits: Edits, engine: EngineName) -> tuple[str, ...]:
    """Return the schemas that a connector captures, from its include lists."""
    is_database = ENGINES[engine].schemas_are_databases
    keys = ("database.include.list" if is_database else _LISTS[1], _LISTS[0])
    for key in keys:
        listed = names(edits.config.get(key))
        # The lists are regular expressions, so dots of a table's name may be escaped.
        is_tables = key == _LISTS[0]
        schemas = [re.split(r"\\?\.|\[\.\]", p)[0] if is_tables else p for p in listed]
        if schemas and all(_PLAIN.fullmatch(schema) for schema in schemas):
            return tuple(dict.fromkeys(schemas))
        if schemas:
            edits.refuse(key, "its schemas are expressions; name each, as lab.toml has to")
            return ("…",)
    default = ENGINES[engine].default_schema
    if default is None:
        edits.refuse("database.include.list", "missing; name the databases that it captures")
        return ("…",)
    edits.note(keys[0], f"is not there: lab.toml says {default}; name others if it captures them")
    return (default,)


def complete_source(
    edits: Edits, source: str, engine: EngineName, offered: Mapping[str, list[str]]
) -> None:
    """Set the addresses of the lab's services, and the other keys that a lab needs.

    `offered` holds the keys of each secret of the lab.
    """
    secret = f"demo/{source}"
    if match := REFERENCE.search(edits.config.get("database.hostname", "")):
        secret = match[1] if match[1] in offered else secret
    address = {key: reference(secret, name) for key, name in _ADDRESS.items()}
    edits.set_all(address, f"they refer to {secret}, the address and login of the lab's own")
    _topics(edits)
    traits = ENGINES[engine].connector
    for key, (default, wanted, why) in traits.replaced.items():
        if edits.config.get(key, default) == default:
            edits.set(key, wanted, why)
    use_registry(edits)
    _trust(edits, engine)
    if traits.keeps_history:
        _history(edits)
    if ENGINES[engine].database_in_topic and "Router" not in str(list(edits.config.values())):
        prefix, database = (edits.config.get(k, "") for k in ("topic.prefix", "database.names"))
        edits.note(
            "database.names",
            f"is part of its topics' names, {prefix}.{database}.<schema>.<table>: a properties "
            "file has to say so, or a RegexRouter has to leave it out",
        )
    for unwrap in unwrapping(edits.config):
        edits.set_all(null_keys(edits.config, unwrap), "NULL stays NULL in a column with a default")
        edits.set_all(truncate_keys(edits.config, unwrap), "silver follows a TRUNCATE, too")
    edits.set_all(converter_keys(edits.config), "values arrive as they are, or are told apart")
    _references(edits, offered)
    if loss := _DECIMALS.get(edits.config.get("decimal.handling.mode", "")):
        edits.note("decimal.handling.mode", loss)


def _trust(edits: Edits, engine: EngineName) -> None:
    """Have the driver accept the lab's databases, whose certificates no authority signed."""
    key, why = ENGINES[engine].connector.trust or ("", "")
    if key and edits.config.get(f"driver.{key}", edits.config.get(f"database.{key}")) != "true":
        edits.set(f"driver.{key}", "true", why)


def _topics(edits: Edits) -> None:
    names = (f"topic.creation.default.{key}" for key in ("replication.factor", "partitions"))
    missing = {name: "-1" for name in names if name not in edits.config}
    edits.set_all(missing, "Kafka makes no topics by itself; -1 is its default")


def _history(edits: Edits) -> None:
    """Set the address and login of the schema history's own Kafka clients."""
    if _SERVERS in edits.config:
        edits.set(_SERVERS, reference("demo/kafka", "bootstrap.servers"), "the lab's own")
    login = history_login(edits.config)
    for key in list(edits.config):
        part = next((key.removeprefix(side) for side in _CLIENTS if key.startswith(side)), "")
        if part.startswith(("ssl.", "sasl.")) and key not in login:
            edits.remove(key, "the lab's Kafka has another login")
    edits.set_all(login, "they refer to demo/kafka, how clients log in to the lab's Kafka")


def _references(edits: Edits, offered: Mapping[str, list[str]]) -> None:
    for key, value in list(edits.config.items()):
        for secret, name in REFERENCE.findall(value):
            if name in offered.get(secret, ()):
                continue
            same = _SAME.get(name)
            if same in offered.get(secret, ()):
                new = value.replace(reference(secret, name), reference(secret, str(same)))
                edits.set(key, new, f"{secret} calls it so here")
            else:
                edits.refuse(
                    key,
                    f"refers to {secret}:{name}, which a lab does not have; `labctl connectors "
                    "secrets` lists what it has",
                )
