"""A disk that can be cut off, as by a power failure: what was not synced is lost.

Killing processes proves nothing of the kind, since what they wrote stays in the kernel's cache.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

__all__ = ["DiskUnavailableError", "LoopDisk", "loop_disk"]

EXT4_IOC_SHUTDOWN = 0x8004587D
"""`_IOR('X', 125, __u32)`, fs/ext4/ext4.h of Linux."""
GOING_DOWN_WITHOUT_FLUSH = 2
"""Neither dirty pages nor the journal's own buffers reach the device any more."""
UNMOUNT_SECONDS = 60


class DiskUnavailableError(Exception):
    """This machine or this user cannot mount a file system of their own."""


@dataclass(frozen=True)
class LoopDisk:
    """An ext4 file system that lives in a file."""

    image: Path
    folder: Path
    """Where it is mounted."""

    def cut(self) -> None:
        """Switch the power off: from now on every write fails, and what was not synced is gone."""
        descriptor = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.ioctl(descriptor, EXT4_IOC_SHUTDOWN, struct.pack("I", GOING_DOWN_WITHOUT_FLUSH))
        finally:
            os.close(descriptor)

    def switch_on(self) -> None:
        """Mount it again, once no process has a file open there: the journal is replayed."""
        self.unmount()
        self.mount()

    def mount(self) -> None:
        """Raises DiskUnavailableError when that is not allowed."""
        done = _run("mount", "-t", "ext4", "-o", "loop", str(self.image), str(self.folder))
        if done.returncode != 0:
            raise DiskUnavailableError(done.stderr.strip())

    @retry(
        retry=retry_if_exception_type(OSError),
        wait=wait_fixed(0.2),
        stop=stop_after_delay(UNMOUNT_SECONDS),
        reraise=True,
    )
    def unmount(self) -> None:
        """Raises OSError when some process still has a file open there."""
        done = _run("umount", str(self.folder))
        if done.returncode != 0:
            raise OSError(done.stderr.strip())


@contextmanager
def loop_disk(image: Path, folder: Path, *, mebibytes: int) -> Iterator[LoopDisk]:
    """A new disk of `mebibytes`, mounted at `folder`; unmounted and deleted afterwards.

    Raises DiskUnavailableError where that cannot be had: it takes root and a loop device.
    """
    missing = [name for name in ("mkfs.ext4", "mount", "umount") if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        raise DiskUnavailableError(f"needs root and {', '.join(missing) or 'a loop device'}")
    with image.open("wb") as file:
        file.truncate(mebibytes * 1024**2)
    disk = LoopDisk(image, folder)
    try:
        done = _run("mkfs.ext4", "-q", "-F", str(image))
        if done.returncode != 0:
            raise DiskUnavailableError(done.stderr.strip())
        disk.mount()
        try:
            yield disk
        finally:
            disk.unmount()
    finally:
        image.unlink()


def _run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=False)
