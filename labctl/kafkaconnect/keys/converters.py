"""labctl's own converters, without which Debezium would send some values wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from labctl.kafkaconnect.keys.lists import names
from labctl.sources.connector_traits import ValueConverter
from labctl.sources.engine_registry import engine_of_connector

__all__ = ["converter_keys", "missing_converters"]


def converter_keys(config: Mapping[str, str]) -> dict[str, str]:
    """Return the keys with which values arrive unchanged that Debezium would send wrongly."""
    return {key: wanted for key, wanted, _ in _wanted(config)}


def missing_converters(config: Mapping[str, str]) -> Iterator[str]:
    """Yield a sentence for each such key that a configuration lacks or sets differently."""
    for key, wanted, without in _wanted(config):
        if config.get(key) != wanted:
            yield f'{key}: {without}; write "{key}": "{wanted}"'


def _wanted(config: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield each key with its value and the consequence of leaving it out."""
    listed = config.get("converters", "")
    aliases = names(listed)
    types = {alias: config.get(f"{alias}.type") for alias in aliases}
    wanted: list[tuple[str, str, str]] = []
    added: list[str] = []
    reasons: list[str] = []
    for one in _converters(config):
        free = f"labctl-{one.alias}" if types.get(one.alias) else one.alias
        own = next((alias for alias, kind in types.items() if kind == one.kind), free)
        if own not in aliases:
            added.append(own)
        reasons.append(one.without)
        wanted += [(f"{own}.type", one.kind, one.without)]
        wanted += [(key, value, one.without) for key, value in one.keys.items()]
        setting, default = one.told
        if (value := config.get(setting, default)) != default:
            wanted += [(f"{own}.{setting}", value, "arrays of bytes would have another form")]
    if reasons:
        chain = ",".join([*aliases, *added]) if added else listed
        yield "converters", chain, "; ".join(reasons)
    yield from wanted


def _converters(config: Mapping[str, str]) -> Iterator[ValueConverter]:
    engine = engine_of_connector(config["connector.class"])
    known = () if engine is None else engine.connector.converters
    yield from (converter for converter in known if converter.applies(config))
