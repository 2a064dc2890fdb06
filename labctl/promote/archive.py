"""ZIP files that are identical byte for byte whenever and wherever they are made."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

__all__ = ["zip_bytes"]

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a ZIP can store."""
_REGULAR_FILE = 0o100644 << 16


def zip_bytes(entries: Mapping[str, bytes]) -> bytes:
    """Return a ZIP of `entries` (contents by name), sorted by name.

    The entries are stored, not compressed: jars are compressed already, and zlib's output for the
    same bytes differs between its versions.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.external_attr = _REGULAR_FILE
            info.create_system = 3  # Unix, whatever this machine is
            archive.writestr(info, entries[name])
    return buffer.getvalue()
