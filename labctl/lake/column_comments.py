"""Column comments from the sources, kept in the lake, where catalogs read them from."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from labctl.lake.glue_changes import Change, type_changes
from labctl.lake.objectstore import LakeStorage
from sqlapi.source import SourceTable

__all__ = ["Comments", "CommentsInLake", "read_comments"]

Comments = Mapping[str, Mapping[str, str]]
"""Comments by table (`database.table`), then by column in lower case."""

_PLACE = "comments.json"


def read_comments(storage: LakeStorage) -> Comments:
    """Return the lake's column comments; empty if none were written yet."""
    try:
        found: Comments = json.loads(storage.read_bytes(_PLACE))
    except FileNotFoundError:
        return {}
    return found


class CommentsInLake:
    """The column comments of the lake, compared with those that the sources have now."""

    def __init__(self, storage: LakeStorage, ask: Callable[[], Comments]) -> None:
        self._storage = storage
        self._ask = ask

    def changes(self, tables: Sequence[SourceTable]) -> tuple[list[Change], Comments]:
        """Return the changed comments of `tables`, and all that the lake will then have."""
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
