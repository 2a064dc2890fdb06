"""ZIP files that are the same byte for byte whenever and wherever they are made."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

__all__ = ["zip_bytes"]

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment a ZIP can name."""
_REGULAR_FILE = 0o100644 << 16


def zip_bytes(entries: Mapping[str, bytes]) -> bytes:
    """A ZIP of `entries`, by name, in the order of their names.

    Stored, not compressed: jars are compressed already, and what zlib makes of the same bytes
    differs between its versions.
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(entries):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.external_attr = _REGULAR_FILE
            info.create_system = 3  # Unix, whatever this machine is
            archive.writestr(info, entries[name])
    return buffer.getvalue()
