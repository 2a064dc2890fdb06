"""A Hudi table's timeline and properties, read directly from `.hoodie`.

hudi-rs does not show what is needed to refuse a wrong answer: the actions still under way, and how
far back the cleaner has left the past readable.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Self, cast

import fastavro
from pyarrow import fs

from sqlapi.hudi.names import OWN_FOLDER, PARTITION_FIELDS, PROPERTIES, RECORD_KEY, parse_properties
from sqlapi.instants import LATEST, format_instant
from sqlapi.table_folder import TableFolder
from sqlapi.table_format import Commit, Description, History, State

__all__ = ["Instant", "Timeline", "actions_in", "description_in", "said_by"]

_NAME = re.compile(
    r"(?P<requested>\d{14,17})(?:_(?P<completed>\d{14,17}))?"
    r"(?:\.(?P<action>(?!requested|inflight)[a-z]+))?(?:\.(?P<state>requested|inflight))?"
)
_WRITES = frozenset({"commit", "deltacommit", "replacecommit", "clustering"})
_REPLACING = frozenset({"replacecommit", "clustering"})
_FIRST_LAYOUT_2_VERSION = 8
_PARALLEL = 8
_LAST = 50
_REMEMBERED = 5_000
_SAID: dict[tuple[str, str, str], Mapping[str, Any]] = {}
"""Metadata of completed writes, by table, folder and file. Without it every query would need a
request for each write."""


@dataclass(frozen=True, order=True)
class Instant(Commit):
    """An action on the timeline."""

    file_name: str

    @classmethod
    def named(cls, file_name: str, modified: datetime | None = None) -> Self | None:
        """Return the action that a file of the timeline belongs to; None for another file.

        Timeline layout 1 does not name the time of completion, so `modified` is used.
        """
        match = _NAME.fullmatch(file_name)
        if not match or not (match["action"] or match["state"]):
            return None
        state = State(match["state"] or "completed")
        completed = match["completed"]
        if state is State.COMPLETED and completed is None and modified is not None:
            completed = format_instant(modified)
        # layout 1 calls a commit's second state `<instant>.inflight`
        return cls(match["requested"], match["action"] or "commit", state, completed, file_name)

    @property
    def writes(self) -> bool:
        """True if this action writes rows when it completes; a compaction only moves them."""
        return self.action in _WRITES

    @property
    def replaces(self) -> bool:
        """True if this action takes the place of file groups that were there before."""
        return self.action in _REPLACING


@dataclass(frozen=True)
class Timeline:
    """The active timeline of a table, as it was when it was listed."""

    properties: Mapping[str, str]
    instants: tuple[Instant, ...]
    """Actions by request time, without archived ones."""
    _table: TableFolder
    _folder: str
    """Folder of the timeline, in the table's folder."""

    @classmethod
    def load(cls, table: TableFolder) -> Timeline:
        """Read the timeline in two requests. Raise FileNotFoundError if there is no Hudi table."""
        properties = parse_properties(table.read(PROPERTIES).decode())
        folder = OWN_FOLDER
        if _described(properties).version >= _FIRST_LAYOUT_2_VERSION:
            folder += f"/{properties.get('hoodie.timeline.path', 'timeline')}"
        return cls(properties, _list_instants(table, folder), table, folder)

    @staticmethod
    def of(history: History) -> Timeline:
        """Return a table's history as what it is. Raise TypeError for that of another format."""
        if not isinstance(history, Timeline):
            raise TypeError(f"{type(history).__name__} is no timeline of Hudi")
        return history

    @property
    def description(self) -> Description:
        """The table's description, from its properties."""
        return _described(self.properties)

    @property
    def zone(self) -> str:
        """The zone in which commits are named: `UTC` or `LOCAL`."""
        return self.properties.get("hoodie.table.timeline.timezone", "LOCAL")

    @property
    def writes(self) -> tuple[Instant, ...]:
        """Completed actions that wrote rows, compactions included."""
        return tuple(i for i in self.instants if i.state is State.COMPLETED and i.action in _WRITES)

    def unfinished(self) -> frozenset[str]:
        """Return the instants of actions under way, or left behind by a writer that died."""
        return frozenset(i.requested for i in self.instants if i.state is not State.COMPLETED)

    def unfinished_writes(self) -> list[str]:
        """Return the instants of unfinished writes alone, the oldest first."""
        return [i.requested for i in self.instants if i.writes and i.state is not State.COMPLETED]

    def completion_mark(self, writes: Iterable[Commit] | None = None) -> str | None:
        """Return where these writes, or all of the timeline, end, for incremental reads by hudi-rs.

        Return None without a write. Those reads go by completion time, but timeline layout 1 only
        knows when writes were requested.
        """
        ended = self.writes if writes is None else writes
        ends = [i.completed if self.by_completion else i.requested for i in ended]
        return max((end for end in ends if end), default=None)

    def refreshed(self) -> Timeline:
        """Return the timeline as it is now, with one request."""
        return replace(self, instants=_list_instants(self._table, self._folder))

    def extended(self, done: Iterable[Commit]) -> Timeline:
        """Return the timeline with actions that have been completed since."""
        others = {one.requested: one for one in done if isinstance(one, Instant)}
        kept = (instant for instant in self.instants if instant.requested not in others)
        return replace(self, instants=tuple(sorted([*kept, *others.values()])))

    @property
    def first(self) -> str | None:
        """Instant of the first completed write that the timeline still has."""
        return self.writes[0].requested if self.writes else None

    @property
    def latest(self) -> str | None:
        """Instant of the last completed write."""
        return self.writes[-1].requested if self.writes else None

    def earliest_readable(self) -> str | None:
        """Return the oldest instant that time travel can reach; None when all of the past is there.

        Before it, file versions may be gone (cleaned) or no longer known (archived), and a read
        would silently miss rows.
        """
        bounds = (self._cleaned_before(), self._archived_before())
        return max((b for b in bounds if b), default=None)

    @property
    def by_completion(self) -> bool:
        """True if the names of its files say when an action was completed (layout 2)."""
        return self.description.version >= _FIRST_LAYOUT_2_VERSION

    def _archived_before(self) -> str | None:
        archive = "archived"
        if self.by_completion:
            archive = self.properties.get("hoodie.timeline.history.path", "history")
        archived = self._table.list(f"{self._folder}/{archive}")
        return self.writes[0].requested if archived and self.writes else None

    def _cleaned_before(self) -> str | None:
        cleans = [i for i in self.instants if i.action == "clean" and i.state is State.COMPLETED]
        for clean in reversed(cleans):
            stream = io.BytesIO(self.content(clean))
            for record in fastavro.reader(stream):
                if isinstance(record, dict) and record.get("totalFilesDeleted"):
                    return str(record.get("earliestCommitToRetain") or clean.requested)
        return None

    def replaced(self, as_of: str) -> frozenset[str]:
        """Return the ids of the file groups that writes up to `as_of` replaced."""
        found: set[str] = set()
        for instant in self.writes:
            if instant.replaces and instant.requested <= as_of:
                by_partition = self._metadata(instant).get("partitionToReplaceFileIds") or {}
                found.update(*by_partition.values())
        return frozenset(found)

    def said_last(self, as_of: str = LATEST) -> list[Mapping[str, Any]]:
        """Return the metadata of the last writes up to `as_of`, the last completed first.

        These are more writes than there are between two compactions.
        """
        writes = [write for write in self.writes if write.requested <= as_of]
        newest = sorted(writes, key=lambda w: w.completed or w.requested, reverse=True)[:_LAST]
        with ThreadPoolExecutor(_PARALLEL) as pool:
            return list(pool.map(self._metadata, newest))

    def schema_at(self, as_of: str) -> dict[str, object] | None:
        """Return the Avro schema of the last write up to `as_of`, without Hudi's own columns."""
        for instant in reversed(self.writes):
            if instant.requested <= as_of and (schema := self._schema_of(instant)):
                return schema
        return None

    def _schema_of(self, instant: Instant) -> dict[str, object] | None:
        text = (self._metadata(instant).get("extraMetadata") or {}).get("schema")
        return json.loads(text) if text else None

    def _metadata(self, instant: Instant) -> Mapping[str, Any]:
        # A completed write does not change any more.
        store = self._table.options.get("aws_endpoint", "")
        place = (f"{store} {self._table.uri}", self._folder, instant.file_name)
        if (known := _SAID.get(place)) is not None:
            return known
        said = said_by(self.content(instant))
        while len(_SAID) >= _REMEMBERED:
            _SAID.pop(next(iter(_SAID)), None)
        _SAID[place] = said
        return said

    def content(self, instant: Instant) -> bytes:
        """Read the file of an action. Raise FileNotFoundError when it was archived meanwhile."""
        return self._table.read(f"{self._folder}/{instant.file_name}")


def _described(properties: Mapping[str, str]) -> Description:
    """Return what the properties of a table say of it."""
    return Description(
        kind=properties.get("hoodie.table.type", ""),
        version=int(properties.get("hoodie.table.version", "0")),
        record_key=properties.get(RECORD_KEY, ""),
        partition_fields=properties.get(PARTITION_FIELDS, ""),
        ordering=properties.get("hoodie.table.ordering.fields")
        or properties.get("hoodie.table.precombine.field", ""),
    )


def description_in(table: TableFolder) -> Description | None:
    """Return what the folder's properties say; None for a folder that is no Hudi table."""
    try:
        return _described(parse_properties(table.read(PROPERTIES).decode()))
    except FileNotFoundError:
        return None


def actions_in(table: TableFolder) -> list[fs.FileInfo]:
    """Return the entries of the timeline, wherever the table's version has it by default."""
    found = table.list(f"{OWN_FOLDER}/timeline")
    return found if any(entry.is_file for entry in found) else table.list(OWN_FOLDER)


def said_by(content: bytes) -> Mapping[str, Any]:
    """Decode the metadata of a completed write: Avro, or JSON in timeline layout 1."""
    if content[:4] == b"Obj\x01":
        record = next(iter(fastavro.reader(io.BytesIO(content))), None)
    else:
        record = json.loads(content or b"null")
    return cast("Mapping[str, Any]", record or {})


def _list_instants(table: TableFolder, folder: str) -> tuple[Instant, ...]:
    """Return each action once, in the furthest state it has reached."""
    reached: dict[tuple[str, str], Instant] = {}
    for entry in table.list(folder):
        instant = Instant.named(entry.base_name, entry.mtime)
        if instant is None:
            continue
        key = (instant.requested, _family(instant.action))
        known = reached.get(key)
        if known is None or list(State).index(instant.state) > list(State).index(known.state):
            reached[key] = instant
    return tuple(sorted(reached.values()))


def _family(action: str) -> str:
    """Return the action that this one completes as.

    A compaction completes as a commit, a log compaction as a deltacommit.
    """
    return {"compaction": "commit", "logcompaction": "deltacommit"}.get(action, action)
