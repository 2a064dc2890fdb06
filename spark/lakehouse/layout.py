"""How a table's rows are laid out, and when its properties no longer say the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lakehouse.errors import ConfigurationError
from lakehouse.partitions import FIELDS
from lakehouse.properties import BUCKETS, RECORD_KEY, TABLE_TYPE, TableConfig

__all__ = ["Layout", "check_layout"]


@dataclass(frozen=True, slots=True)
class Layout:
    """What cannot change while a table keeps its files."""

    key_fields: tuple[str, ...]
    partition_fields: tuple[str, ...]
    table_type: str

    @staticmethod
    def wanted(config: TableConfig) -> Layout:
        """By the table's properties."""
        return Layout(config.key_fields, config.partition_fields, config.table_type)

    @staticmethod
    def noted(properties: Any) -> Layout:
        """By the table itself: `properties` is Hudi's HoodieTableConfig."""
        return Layout(
            _names(properties.getRecordKeyFields()),
            _names(properties.getPartitionFields()),
            properties.getTableType().name(),
        )


def check_layout(config: TableConfig, layout: Layout | None, buckets: str) -> None:
    """Raise ConfigurationError where `config` asks for another layout than the table has.

    `layout` is None before the first commit; `buckets` is empty where no commit says how many.
    With other buckets, partitions or keys, Hudi would not find a row, and write it a second time.
    """
    wanted = Layout.wanted(config)
    noted = layout or wanted
    changed = [
        (key, was, now)
        for key, was, now in (
            (BUCKETS, buckets or config.buckets, config.buckets),
            (FIELDS, ",".join(noted.partition_fields), ",".join(wanted.partition_fields)),
            (RECORD_KEY, ",".join(noted.key_fields), ",".join(wanted.key_fields)),
            (TABLE_TYPE, noted.table_type, wanted.table_type),
        )
        if was != now
    ]
    if changed:
        before = " and ".join(f"{key}={was}" for key, was, _ in changed)
        says = " and ".join(f"{key}={now}" for key, _, now in changed)
        raise ConfigurationError(
            f"Table {config.name} was written with {before}, and its properties say {says}: "
            "a table cannot be changed in this way",
            hint=f"Put {before} back, or write the table again: labctl rebuild {config.name}",
        )


def _names(fields: Any) -> tuple[str, ...]:
    return tuple(fields.get()) if fields.isPresent() else ()
