"""What the sources say of their columns, kept in the lake, where catalogs describe tables from."""

from __future__ import annotations

import json
from collections.abc import Mapping

from labctl.lake.objectstore import LakeStorage

__all__ = ["Comments", "read_comments", "write_comments"]

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


def write_comments(storage: LakeStorage, comments: Comments) -> None:
    with storage.filesystem.open_output_stream(storage.path(_PLACE)) as stream:
        stream.write(json.dumps(comments, ensure_ascii=False, sort_keys=True).encode())
