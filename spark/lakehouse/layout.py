"""The layout of a table's rows, compared with the table's properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakecontract.errors import ConfigurationError
from lakecontract.older_keys import MERGE_MODE, ORDERING
from lakecontract.partitions import FIELDS
from lakecontract.properties import BUCKETS, RECORD_KEY, TABLE_TYPE, TableConfig

__all__ = ["MERGE_MODE", "Layout", "check_layout"]

_MERGE_MODE_NOTED = "hoodie.record.merge.mode"
_ORDERINGS = ("hoodie.table.ordering.fields", "hoodie.table.precombine.field")
"""Keys in a table's own hoodie.properties, of today's Hudi and of older versions."""


@dataclass(frozen=True, slots=True)
class Layout:
    """The properties that cannot change while a table keeps its files."""

    key_fields: tuple[str, ...]
    partition_fields: tuple[str, ...]
    table_type: str
    ordering_field: str = ""
    """Empty when it is not stated, like the next one."""
    merge_mode: str = ""

    @staticmethod
    def wanted(config: TableConfig) -> Layout:
        """Return the layout that the table's properties ask for."""
        return Layout(
            config.key_fields,
            config.partition_fields,
            config.table_type,
            config.ordering_field,
            config.hoodie.get(MERGE_MODE, ""),
        )

    @staticmethod
    def noted(properties: Any) -> Layout:
        """Return the layout that the table has: `properties` is Hudi's HoodieTableConfig."""
        return Layout(
            _names(properties.getRecordKeyFields()),
            _names(properties.getPartitionFields()),
            properties.getTableType().name(),
            next(filter(None, map(properties.getProps().getProperty, _ORDERINGS)), ""),
            properties.getProps().getProperty(_MERGE_MODE_NOTED) or "",
        )

    def allows(self, wanted: Layout) -> bool:
        """Return whether a table with this layout can continue with the `wanted` one."""
        return not _changes(self, wanted)


def check_layout(config: TableConfig, layout: Layout | None, buckets: str) -> None:
    """Raise ConfigurationError if `config` asks for another layout than the table has.

    `layout` is None before the first commit; `buckets` is empty if no commit says how many.
    With other buckets, partitions or keys, Hudi would not find a row, and write it a second time.
    """
    wanted = Layout.wanted(config)
    changed = _changes(layout or wanted, wanted)
    if buckets and buckets != config.buckets:
        changed.insert(0, (BUCKETS, buckets, config.buckets))
    if changed:
        before = " and ".join(f"{key}={was}" for key, was, _ in changed)
        says = " and ".join(f"{key}={now}" for key, _, now in changed)
        raise ConfigurationError(
            f"Table {config.name} was written with {before}, and its properties say {says}: "
            "a table cannot be changed in this way",
            hint=f"Put {before} back, or write the table again: labctl table rebuild {config.name}",
        )


def _changes(noted: Layout, wanted: Layout) -> list[tuple[str, str, str]]:
    """Return the keys that differ, with the table's value and that of its properties."""
    fixed = [
        (FIELDS, ",".join(noted.partition_fields), ",".join(wanted.partition_fields)),
        (RECORD_KEY, ",".join(noted.key_fields), ",".join(wanted.key_fields)),
        (TABLE_TYPE, noted.table_type, wanted.table_type),
    ]
    said = [
        (ORDERING, noted.ordering_field, wanted.ordering_field),
        (MERGE_MODE, noted.merge_mode, wanted.merge_mode),
    ]
    fixed += [(key, was, now) for key, was, now in said if was and now]
    return [(key, was, now) for key, was, now in fixed if was != now]


def _names(fields: Any) -> tuple[str, ...]:
    return tuple(fields.get()) if fields.isPresent() else ()
