"""Detection of keys in a connector's configuration that nothing would read."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from labctl.config.kafka_clients import LOGIN_KEYS
from labctl.kafkaconnect.keys.converters import missing_converters
from labctl.kafkaconnect.keys.key_table import KeyTable, key_table
from labctl.kafkaconnect.keys.lists import names
from labctl.kafkaconnect.keys.renamed import successor
from lakecontract.references import reference

__all__ = [
    "history_login",
    "known_keys",
    "null_keys",
    "unwrapping",
    "wrong_keys",
]

_Add = Callable[[str, Collection[str] | None], None]
"""Function that adds keys below a prefix; None allows any key below it."""
_OF_PART = {
    "transforms": frozenset({"type", "predicate", "negate", "plugin.version"}),
    "predicates": frozenset({"type", "plugin.version"}),
}
_CONVERTERS = ("key.converter", "value.converter", "header.converter")
_DEFAULT_GROUP = "default"
_HISTORY = "schema.history.internal."
_HISTORY_CLIENTS = ("producer", "consumer")
_UNWRAP = "io.debezium.transforms.ExtractNewRecordState"
_APICURIO = "apicurio.registry."
_USE_ID, _GLOBAL_ID = f"{_APICURIO}use-id", "globalId"
_DELETES = "delete.tombstone.handling.mode"
_NULLS = "replace.null.with.default"
_KEEPS_NULLS = "labctl.NullStaysNull"


@dataclass(frozen=True)
class KnownKeys:
    """The keys that one configuration may have."""

    keys: frozenset[str]
    prefixes: tuple[str, ...]
    """Prefixes below which any key is allowed, because a plugin unknown to the table reads it."""
    patterns: tuple[re.Pattern[str], ...]

    def __contains__(self, key: str) -> bool:
        return (
            key in self.keys
            or key.startswith(self.prefixes)
            or any(pattern.fullmatch(key) for pattern in self.patterns)
        )


def wrong_keys(config: Mapping[str, str], allowed: Collection[str] = ()) -> Iterator[str]:
    """Yield one sentence per problem with the keys of a connector's configuration.

    Sentences contain no values of the configuration. Keys in `allowed` always pass. A connector
    whose class is not in the table passes too: nothing is known about it.
    """
    table = key_table()
    connector = config["connector.class"]
    if connector not in table.connectors:
        return
    known = known_keys(config)
    for key in config:
        if key in known or key in allowed:
            continue
        if (today := successor(key, known.keys)) is not None:
            yield f"{key}: this connector has no such key; use {today}"
        elif owner := _other_owner(key, table):
            yield f"{key}: a key of {owner}, which this connector does not read"
        elif close := get_close_matches(key, known.keys, n=1, cutoff=0.75):
            yield f"{key}: unknown key; did you mean {close[0]}?"
        else:
            yield f"{key}: unknown key; nothing would read it"
    if table.side(connector) == "source":
        for problem in (*_not_rows(config, table), *_missing(config), *_other_ids(config)):
            if problem.partition(":")[0] not in allowed:
                yield problem


def _other_owner(key: str, table: KeyTable) -> str | None:
    """Return the class of another connector that has the key; None if there is none."""
    return next((name for name, keys in table.connectors.items() if key in keys), None)


def _not_rows(config: Mapping[str, str], table: KeyTable) -> Iterator[str]:
    """Yield a sentence if no transform turns changes into rows, which silver reads.

    A transform that the table does not know may do so.
    """
    types = [config.get(f"transforms.{alias}.type") for alias in names(config.get("transforms"))]
    if _UNWRAP in types or any(kind not in table.parts for kind in types):
        return
    chain = ",".join([*names(config.get("transforms")), "unwrap"])
    wanted = {
        "transforms": chain,
        "transforms.unwrap.type": _UNWRAP,
        f"transforms.unwrap.{_DELETES}": "rewrite",
        "transforms.unwrap.add.fields": "op,db,table,source.ts_us:source_ts_us",
    }
    written = ", ".join(f'"{key}": "{value}"' for key, value in wanted.items())
    yield (
        "transforms: none turns Debezium's envelopes (before, after, source) into rows, and silver "
        f"reads rows; write {written}"
    )


def _missing(config: Mapping[str, str]) -> Iterator[str]:
    """Yield one sentence per missing or wrong setting that silver needs.

    The broker creates no topics by itself, so a connector that cannot create them writes nothing.
    A schema history needs its own login to Kafka. A delete that arrives as an empty record cannot
    be applied to a row. If the schema has defaults, NULL would be read as the default. A value that
    Debezium sends as another one cannot be told from that one.
    """
    for key, wanted in history_login(config).items():
        if key not in config:
            yield (
                f"{key}: missing, so its schema history could not log in to Kafka; "
                f'write "{key}": "{wanted}"'
            )
    for key in ("replication.factor", "partitions"):
        if (needed := f"topic.creation.{_DEFAULT_GROUP}.{key}") not in config:
            yield f'{needed}: missing, so no topic could be created; write "{needed}": "-1"'
    for alias in unwrapping(config):
        mode = f"transforms.{alias}.{_DELETES}"
        if not _is_rewrite(config.get(mode)):
            yield f'{mode}: a delete would arrive as an empty record; write "{mode}": "rewrite"'
        for key, wanted in null_keys(config, alias).items():
            if config.get(key) != wanted:
                yield (
                    f"{key}: NULL would arrive as the default of its column, where it has one; "
                    f'write "{key}": "{wanted}"'
                )
    yield from missing_converters(config)


def unwrapping(config: Mapping[str, str]) -> list[str]:
    """Return the names of the transforms that turn changes into rows."""
    aliases = names(config.get("transforms"))
    return [alias for alias in aliases if config.get(f"transforms.{alias}.type") == _UNWRAP]


def null_keys(config: Mapping[str, str], unwrap: str) -> dict[str, str]:
    """Return the keys that keep NULL as NULL, for a file whose `unwrap` turns changes into rows.

    Without them, Debezium's transform and every converter read NULL as the schema's default.
    """
    aliases = names(config.get("transforms"))
    types = {alias: config.get(f"transforms.{alias}.type") for alias in aliases}
    free = "labctl-nulls" if "nulls" in types else "nulls"
    own = next((alias for alias, kind in types.items() if kind == _KEEPS_NULLS), free)
    chain = config["transforms"]
    if own not in aliases or aliases.index(own) < aliases.index(unwrap):
        aliases = [alias for alias in aliases if alias != own]
        aliases.insert(aliases.index(unwrap) + 1, own)
        chain = ",".join(aliases)
    return {
        "transforms": chain,
        f"transforms.{unwrap}.{_NULLS}": "false",
        f"transforms.{own}.type": _KEEPS_NULLS,
    }


def _other_ids(config: Mapping[str, str]) -> Iterator[str]:
    """Yield problems with Apicurio ids in Confluent's form, which has only a number: readers cannot
    tell a content id from a global id."""
    for converter in _CONVERTERS:
        as_confluent = config.get(f"{converter}.{_APICURIO}as-confluent", "").strip().lower()
        key = f"{converter}.{_USE_ID}"
        if as_confluent == "true" and config.get(key, _GLOBAL_ID) != _GLOBAL_ID:
            yield (
                f"{key}: with as-confluent, ids must be global ids: what reads the topics takes "
                f'them for those; leave it out, or write "{key}": "{_GLOBAL_ID}"'
            )


def history_login(config: Mapping[str, str]) -> dict[str, str]:
    """Return the keys with which a schema history logs in to Kafka, with references as values.

    The history has its own clients, which do not use the worker's login. The result is empty if the
    connector keeps no history in Kafka.
    """
    if f"{_HISTORY}kafka.topic" not in config:
        return {}
    return {
        f"{_HISTORY}{side}.{key}": reference("demo/kafka", key)
        for side in _HISTORY_CLIENTS
        for key in LOGIN_KEYS
    }


def _is_rewrite(mode: str | None) -> bool:
    return mode is not None and (mode.startswith("rewrite") or "${" in mode)


def known_keys(config: Mapping[str, str]) -> KnownKeys:
    """Return the keys that a configuration may have. Its connector must be in the table."""
    table = key_table()
    connector = config["connector.class"]
    side = table.side(connector)
    plain = table.connectors[connector] | table.framework[side]
    keys = {key for key in plain if "(" not in key}
    # Debezium lists keys that contain a number or a list of columns as expressions.
    patterns = [re.compile(key.replace("(d+)", r"(\d+)")) for key in plain - keys]
    prefixes: list[str] = []

    def add(prefix: str, below: Collection[str] | None) -> None:
        if below is None:
            prefixes.append(prefix)
            return
        keys.update(prefix + key for key in below if not key.endswith("."))
        prefixes.extend(prefix + key for key in below if key.endswith("."))

    for kind, own in _OF_PART.items():
        for alias in names(config.get(kind)):
            prefix = f"{kind}.{alias}."
            part = table.parts.get(config.get(f"{prefix}type", ""))
            add(prefix, None if part is None else own | part)
    for converter in _CONVERTERS:
        add(f"{converter}.", table.parts.get(config.get(converter, "")))
    for client in ("producer", "consumer", "admin"):
        add(f"{client}.override.", table.clients[client])
    if side == "source":
        _source(config, table, add)
    return KnownKeys(frozenset(keys), tuple(prefixes), tuple(patterns))


def _source(config: Mapping[str, str], table: KeyTable, add: _Add) -> None:
    """Add the keys of topics, drivers and clients that source connectors accept as well."""
    topic = table.clients["topic"] | {"replication.factor", "partitions"}
    for group in (_DEFAULT_GROUP, *names(config.get("topic.creation.groups"))):
        listed = frozenset[str]() if group == _DEFAULT_GROUP else {"include", "exclude"}
        add(f"topic.creation.{group}.", topic | listed)
    driver = table.drivers[config["connector.class"]]
    for prefix in ("driver.", "database."):
        add(prefix, driver)
    for side in _HISTORY_CLIENTS:
        add(f"{_HISTORY}{side}.", table.clients[side])
    add("signal.consumer.", table.clients["consumer"])
    add("snapshot.select.statement.overrides.", None)
    if "schema.history.internal" in config:
        add(_HISTORY, None)
    for listing in ("converters", "post.processors"):
        for alias in names(config.get(listing)):
            add(f"{alias}.", None)
