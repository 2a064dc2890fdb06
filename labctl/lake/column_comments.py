"""What the sources say of their columns, kept in the lake, where catalogs describe tables from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from labctl.lake.glue_changes import Change, type_changes
from labctl.lake.objectstore import LakeStorage
from sqlapi.source import SourceTable

__all__ = ["Comments", "CommentsInLake", "read_comments"]

Comments = Mapping[str, Mapping[str, str]]
"""By table `database.table`, by column in small letters."""

_PLACE = "comments.json"


def read_comments(storage: LakeStorage) -> Comments:
    """None of a lake to which nobody has written any."""
    try:
        found: Comments = json.loads(storage.read_bytes(_PLACE))
    except FileNotFoundError:
        return {}
    return found


class CommentsInLake:
    """The comments of columns: those that the lake has, and what the sources say now."""

    def __init__(self, storage: LakeStorage, ask: Callable[[], Comments]) -> None:
        self._storage = storage
        self._ask = ask

    def changes(self, tables: Sequence[SourceTable]) -> tuple[list[Change], Comments]:
        """What is new of `tables`, to be shown; and all that the lake is to have then."""
        known = read_comments(self._storage)
        if not tables:
            return [], known
        said = self._ask()
        names = [table.full_name for table in tables]
        new = {n: said[n] for n in names if n in said and said[n] != known.get(n, {})}
        changes = [
            Change("update", f"comments of {name}", tuple(details), "", {})
            for name, comments in new.items()
            if (details := list(type_changes("comment of", comments, known.get(name, {}))))
        ]
        return changes, {**known, **new}

    def write(self, comments: Comments) -> None:
        with self._storage.filesystem.open_output_stream(self._storage.path(_PLACE)) as stream:
            stream.write(json.dumps(comments, ensure_ascii=False, sort_keys=True).encode())
