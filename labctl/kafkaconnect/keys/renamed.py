"""Former keys of Debezium, and the keys that replace them.

They are the fields of versions 1.9 and 2.4 that 3.3 no longer has.
"""

from __future__ import annotations

import re

from labctl.sources.engine_registry import engine_of_connector

__all__ = ["names_databases", "renamed", "successor"]

_RENAMED = tuple(
    (re.compile(old), new)
    for old, new in (
        (r"database\.server\.name", "topic.prefix"),
        (r"database\.history", "schema.history.internal"),
        (
            r"database\.history\.store\.only\.monitored\.tables\.ddl",
            "schema.history.internal.store.only.captured.tables.ddl",
        ),
        (r"database\.history\.(.+)", r"schema.history.internal.\1"),
        (r"(database|schema|table|column)\.whitelist", r"\1.include.list"),
        (r"(database|schema|table|column)\.blacklist", r"\1.exclude.list"),
        (r"sanitize\.field\.names", "field.name.adjustment.mode"),
        (r"toasted\.value\.placeholder", "unavailable.value.placeholder"),
        (r"transaction\.topic", "topic.transaction"),
        (r"truncate\.handling\.mode", "skipped.operations"),
        (r"snapshot\.custom\.class", "snapshot.mode.custom.name"),
        (r"slot\.drop_on_stop", "slot.drop.on.stop"),
        (
            r"(transforms\.[^.]+)\.(delete\.handling\.mode|drop\.tombstones)",
            r"\1.delete.tombstone.handling.mode",
        ),
        (r"(transforms\.[^.]+)\.operation\.header", r"\1.add.headers"),
        (r"(transforms\.[^.]+)\.add\.source\.fields", r"\1.add.fields"),
        (r"(transforms\.[^.]+)\.whitelist", r"\1.include"),
        (r"(transforms\.[^.]+)\.blacklist", r"\1.exclude"),
        (r"(transforms\.[^.]+)\.debezium\.op\.invalid\.behavior", r"\1.table.op.invalid.behavior"),
    )
)
_OF_ENGINE = {
    "database.dbname": ("database.names", "database.include.list"),
    "database.names": ("database.dbname", "database.include.list"),
    "database.include.list": ("schema.include.list",),
    "database.exclude.list": ("schema.exclude.list",),
    "schema.include.list": ("database.include.list",),
    "schema.exclude.list": ("database.exclude.list",),
    "database.ssl.mode": ("database.sslmode", "driver.encrypt"),
    "database.sslmode": ("database.ssl.mode", "driver.encrypt"),
    "snapshot.isolation.mode": ("snapshot.locking.mode",),
}
"""Names of a key's equivalents in the connectors of other engines."""


_NOT_RENAMED_ALONE = re.compile(
    r"(transforms\.[^.]+)\.(delete\.handling\.mode|drop\.tombstones|operation\.header"
    r"|add\.source\.fields)"
)
"""Keys whose value has another meaning under the new name."""


def names_databases(connector: str) -> bool:
    """Return whether a connector takes several databases where it took one before."""
    engine = engine_of_connector(connector)
    return engine is not None and engine.connector.database_key == "database.names"


def renamed(key: str, known: frozenset[str], connector: str) -> str | None:
    """Return the current name of `key` among `known`; None if its values changed their meaning."""
    if key == "database.dbname" and names_databases(connector):
        return "database.names"
    if _NOT_RENAMED_ALONE.fullmatch(key):
        return None
    for old, new in _RENAMED:
        if match := old.fullmatch(key):
            name = match.expand(new)
            return name if name in known else renamed(name, known, connector)
    return None


def successor(key: str, known: frozenset[str]) -> str | None:
    """Return the key among `known` that replaces `key`, or is its equivalent in this connector."""
    for old, new in _RENAMED:
        if match := old.fullmatch(key):
            name = match.expand(new)
            return name if name in known else successor(name, known)
    return next((name for name in _OF_ENGINE.get(key, ()) if name in known), None)
