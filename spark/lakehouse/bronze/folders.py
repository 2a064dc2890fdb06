"""The folders of bronze files that an application looks after, and how far its tables need them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from lakecontract.bronze_position import MOST_OFFSETS
from lakecontract.options import SourceName
from lakecontract.properties import TableConfig
from lakehouse.storage import LakeFiles

__all__ = ["BronzeFolder", "Sink", "bronze_folders"]


class Sink(Protocol):
    """A writer of bronze files."""

    @property
    def topics_path(self) -> str:
        """The folder with one subfolder per topic."""

    def reads(self, topic: str) -> bool:
        """Return whether the sink takes a topic."""


@dataclass(frozen=True, slots=True)
class BronzeFolder:
    """A folder with the bronze files of one topic."""

    topic: str
    path: str
    taken: Mapping[int, int] | None
    """The offset, by partition, before which all tables of the topic have the records; None if the
    topic has no table."""
    is_in_order: bool
    """True if this application writes the files: unless their position is noted, each file's
    records then come before those of the file with the next start offset."""
    margin: int = 0
    """Number of offsets before `taken` at which a table's feed begins if positions are noted."""

    def needed(self, is_noted: bool) -> Mapping[int, int] | None:
        """Return, by partition, the first offset that a table needs; None if there is no table."""
        if self.taken is None or not is_noted:
            return self.taken
        return {number: offset - self.margin for number, offset in self.taken.items()}


def bronze_folders(
    storage: LakeFiles,
    base_path: str,
    tables: Iterable[tuple[TableConfig, Mapping[str, int]]],
    sinks: Sequence[Sink],
    source: SourceName,
) -> list[BronzeFolder]:
    """Return the folders of the topics that `tables` are fed from, or that `sinks` write.

    Each table comes with its next offsets, by partition.
    """
    folders: dict[str, str] = {}
    offsets: dict[str, list[Mapping[str, int]]] = {}
    for config, next_offsets in tables:
        folders[config.topic] = f"{base_path.rstrip('/')}/{config.bronze_root}"
        offsets.setdefault(config.topic, []).append(next_offsets)
    found = [
        BronzeFolder(
            topic,
            path,
            _taken_by_all(offsets[topic]),
            any(sink.reads(topic) for sink in sinks),
            MOST_OFFSETS if source == "bronze" else 0,
        )
        for topic, path in folders.items()
    ]
    found += [
        BronzeFolder(entry.name, f"{sink.topics_path}/{entry.name}", None, True)
        for sink in sinks
        for entry in storage.entries(sink.topics_path)
        if entry.is_folder and sink.reads(entry.name) and entry.name not in folders
    ]
    return found


def _taken_by_all(offsets: Sequence[Mapping[str, int]]) -> Mapping[int, int]:
    """Return the least of several tables' next offsets, by partition."""
    numbers = set().union(*offsets)
    return {int(number): min(one.get(number, 0) for one in offsets) for number in numbers}
