"""Reading files that anyone may have put where a project expects a file.

A name does not show what it stands for: a named pipe would block its reader for good, a device
such as `/dev/zero` has no end, and a regular file may be larger than memory. All code that reads a
project's files therefore reads them here.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

__all__ = ["LARGEST", "read_bytes", "read_text", "require_regular"]

LARGEST = 16 * 1024 * 1024
"""Most bytes of a file of settings. One that is written by hand has some thousands."""


def read_bytes(path: Path, *, largest: int = LARGEST) -> bytes:
    """Return the content of a regular file.

    Raises OSError for anything else, and for more than `largest` bytes; neither is read.
    """
    # Without O_NONBLOCK, opening a pipe waits for somebody who writes.
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        _check(os.fstat(descriptor), path, largest)
        content = file.read(largest + 1)  # it may have grown
        if len(content) > largest:
            raise _too_large(path, largest)
        return content


def read_text(path: Path, *, largest: int = LARGEST) -> str:
    """Return the text of a regular file in UTF-8, with every line's end as `\\n`.

    Raises OSError as `read_bytes`, and ValueError where it is not UTF-8.
    """
    text = read_bytes(path, largest=largest).decode("utf-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def require_regular(path: Path, *, largest: int = LARGEST) -> None:
    """Raise OSError unless `read_bytes` would take the file by its kind and size."""
    _check(path.stat(), path, largest)


def _check(facts: os.stat_result, path: Path, largest: int) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(facts.st_mode):
        raise OSError(errno.EINVAL, "it is a pipe, a device or a socket, not a file", str(path))
    if facts.st_size > largest:
        raise _too_large(path, largest)


def _too_large(path: Path, largest: int) -> OSError:
    return OSError(errno.EFBIG, f"it has more than {largest // 1024**2} MiB", str(path))
