"""A Hudi table's timeline and properties, read straight from `.hoodie`.

hudi-rs does not show what is needed to refuse a wrong answer: actions still under way, and how far
back the cleaner has left the past readable.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Self, cast

import fastavro

from labctl.lake.instants import LATEST, format_instant
from labctl.lake.objectstore import LakeStorage

__all__ = ["Instant", "State", "Timeline", "said_by"]

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
"""What completed writes said of themselves, by storage, folder and file: reading it again for every
query would be a request for each."""


class State(StrEnum):
    """How far an action has got."""

    REQUESTED = "requested"
    INFLIGHT = "inflight"
    COMPLETED = "completed"


@dataclass(frozen=True, order=True)
class Instant:
    """One action on the timeline. Times are Hudi instants in UTC, 17 digits."""

    requested: str
    action: str
    state: State
    completed: str | None
    file_name: str

    @classmethod
    def named(cls, file_name: str, modified: datetime | None = None) -> Self | None:
        """The action a file of the timeline is of; None for another file.

        Timeline layout 1 does not name when an action was completed: then it is `modified`.
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
        """Whether this action writes rows when it completes; a compaction only moves them."""
        return self.action in _WRITES

    @property
    def replaces(self) -> bool:
        """Whether this action takes the place of file groups that were there before."""
        return self.action in _REPLACING


@dataclass(frozen=True)
class Timeline:
    """The active timeline of a table, as it was when it was listed."""

    properties: Mapping[str, str]
    instants: tuple[Instant, ...]
    """By request time; archived actions are not among them."""
    _storage: LakeStorage
    _folder: str

    @classmethod
    def load(cls, storage: LakeStorage, table_path: str) -> Timeline:
        """Two requests. Raises FileNotFoundError when there is no Hudi table."""
        text = storage.read_bytes(f"{table_path}/.hoodie/hoodie.properties").decode()
        properties = dict(
            line.split("=", 1) for line in text.splitlines() if "=" in line and line[0] != "#"
        )
        folder = f"{table_path}/.hoodie"
        if int(properties.get("hoodie.table.version", "0")) >= _FIRST_LAYOUT_2_VERSION:
            folder += f"/{properties.get('hoodie.timeline.path', 'timeline')}"
        return cls(properties, _list_instants(storage, folder), storage, folder)

    @property
    def writes(self) -> tuple[Instant, ...]:
        """Completed actions that wrote rows, compactions included."""
        return tuple(i for i in self.instants if i.state is State.COMPLETED and i.action in _WRITES)

    def unfinished(self) -> frozenset[str]:
        """Instants of actions under way, or left behind by a writer that died."""
        return frozenset(i.requested for i in self.instants if i.state is not State.COMPLETED)

    def completion_mark(self) -> str | None:
        """Where the timeline ends now, for incremental reads by hudi-rs: those go by when
        writes completed, except that timeline layout 1 only knows when they were requested."""
        ends = [i.completed if self.by_completion else i.requested for i in self.writes]
        return max((end for end in ends if end), default=None)

    def refreshed(self) -> Timeline:
        """The timeline as it is now. One request."""
        return replace(self, instants=_list_instants(self._storage, self._folder))

    def extended(self, done: Iterable[Instant]) -> Timeline:
        """The timeline with actions that have been completed since."""
        others = {instant.requested: instant for instant in done}
        kept = (instant for instant in self.instants if instant.requested not in others)
        return replace(self, instants=tuple(sorted([*kept, *others.values()])))

    @property
    def latest(self) -> str | None:
        """Instant of the last completed write."""
        return self.writes[-1].requested if self.writes else None

    def earliest_readable(self) -> str | None:
        """The oldest instant that can still be travelled to; None when all of the past is there.

        Before it file versions may be gone (cleaned) or no longer known (archived), and a read
        would silently miss rows.
        """
        bounds = (self._cleaned_before(), self._archived_before())
        return max((b for b in bounds if b), default=None)

    @property
    def by_completion(self) -> bool:
        """Whether the names of its files say when an action was completed (layout 2)."""
        return int(self.properties["hoodie.table.version"]) >= _FIRST_LAYOUT_2_VERSION

    def _archived_before(self) -> str | None:
        archive = "archived"
        if self.by_completion:
            archive = self.properties.get("hoodie.timeline.history.path", "history")
        archived = self._storage.list(f"{self._folder}/{archive}")
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
        """Ids of the file groups that writes up to `as_of` took the place of."""
        found: set[str] = set()
        for instant in self.writes:
            if instant.replaces and instant.requested <= as_of:
                by_partition = self._metadata(instant).get("partitionToReplaceFileIds") or {}
                found.update(*by_partition.values())
        return frozenset(found)

    def said_last(self, as_of: str = LATEST) -> list[Mapping[str, Any]]:
        """What the last writes up to `as_of` say of themselves, the last completed first.

        More of them than there are between two compactions.
        """
        writes = [write for write in self.writes if write.requested <= as_of]
        newest = sorted(writes, key=lambda w: w.completed or w.requested, reverse=True)[:_LAST]
        with ThreadPoolExecutor(_PARALLEL) as pool:
            return list(pool.map(self._metadata, newest))

    def schema_at(self, as_of: str) -> dict[str, object] | None:
        """The Avro schema of the last write up to `as_of`, without Hudi's own columns."""
        for instant in reversed(self.writes):
            if instant.requested <= as_of and (schema := self._schema_of(instant)):
                return schema
        return None

    def _schema_of(self, instant: Instant) -> dict[str, object] | None:
        text = (self._metadata(instant).get("extraMetadata") or {}).get("schema")
        return json.loads(text) if text else None

    def _metadata(self, instant: Instant) -> Mapping[str, Any]:
        # A completed write does not change any more.
        store = self._storage.hudi_options.get("aws_endpoint", "")
        place = (f"{store} {self._storage.uri}", self._folder, instant.file_name)
        if (known := _SAID.get(place)) is not None:
            return known
        said = said_by(self.content(instant))
        while len(_SAID) >= _REMEMBERED:
            _SAID.pop(next(iter(_SAID)), None)
        _SAID[place] = said
        return said

    def content(self, instant: Instant) -> bytes:
        """Read the file of an action. Raises FileNotFoundError when it was archived meanwhile."""
        return self._storage.read_bytes(f"{self._folder}/{instant.file_name}")


def said_by(content: bytes) -> Mapping[str, Any]:
    """Decode what a completed write says about itself: Avro, in timeline layout 1 JSON."""
    if content[:4] == b"Obj\x01":
        record = next(iter(fastavro.reader(io.BytesIO(content))), None)
    else:
        record = json.loads(content or b"null")
    return cast("Mapping[str, Any]", record or {})


def _list_instants(storage: LakeStorage, folder: str) -> tuple[Instant, ...]:
    """Each action once, in the furthest state it has reached."""
    reached: dict[tuple[str, str], Instant] = {}
    for entry in storage.list(folder):
        instant = Instant.named(entry.base_name, entry.mtime)
        if instant is None:
            continue
        key = (instant.requested, _family(instant.action))
        known = reached.get(key)
        if known is None or list(State).index(instant.state) > list(State).index(known.state):
            reached[key] = instant
    return tuple(sorted(reached.values()))


def _family(action: str) -> str:
    """A compaction completes as a commit, a log compaction as a deltacommit."""
    return {"compaction": "commit", "logcompaction": "deltacommit"}.get(action, action)
