"""labctl's own converters, without which Debezium would send some values wrongly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from labctl.kafkaconnect.keys.lists import names

__all__ = ["converter_keys", "missing_converters"]


@dataclass(frozen=True)
class _Converter:
    connector: str
    alias: str
    kind: str
    without: str
    """Description of the values without the converter."""
    setting: str | None = None
    """The setting that determines Debezium's form of such values."""
    forms: frozenset[str] = frozenset()
    """The values of `setting` whose form the converter writes, among them Debezium's default."""
    keys: Mapping[str, str] = field(default_factory=dict)
    """Other keys that the converter needs."""
    told: tuple[str, str] = ("", "")
    """A connector setting and its default; the converter needs a copy of any other value."""

    def applies(self, config: Mapping[str, str]) -> bool:
        """Return whether the converter fits the configuration's connector and form of values."""
        if config["connector.class"] != self.connector:
            return False
        if self.setting is None or self.setting not in config:
            return True
        return config[self.setting].strip().lower() in self.forms


_POSTGRES = "io.debezium.connector.postgresql.PostgresConnector"
_CONVERTERS = (
    _Converter(
        "io.debezium.connector.mysql.MySqlConnector",
        "zeros",
        "labctl.ZeroDates",
        "a zero date would arrive as another date, and the year 0 as another year",
        keys={"driver.yearIsDateType": "false"},
    ),
    _Converter(
        _POSTGRES,
        "numbers",
        "labctl.SpecialNumbers",
        "a numeric NaN or infinity would arrive as NULL",
        "decimal.handling.mode",
        frozenset({"precise"}),
    ),
    _Converter(
        _POSTGRES,
        "dates",
        "labctl.OldDates",
        "in the first load, 44 BC would arrive as AD 44, and times before 1582 days apart",
        "time.precision.mode",
        frozenset({"adaptive", "adaptive_time_microseconds"}),
    ),
    _Converter(
        _POSTGRES,
        "arrays",
        "labctl.DeepArrays",
        "an array of several dimensions would arrive as one of NULLs",
        told=("binary.handling.mode", "bytes"),
    ),
)


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
    for one in _CONVERTERS:
        if not one.applies(config):
            continue
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
