"""A disk that can lose its power, or become full.

Killing processes proves nothing about a power failure: what they wrote and did not sync stays in
the kernel's cache.
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tenacity import retry, retry_if_exception_type, stop_after_delay, wait_fixed

from labctl.errors import ExitCode, LabError

__all__ = ["DiskUnavailableError", "LoopDisk", "SmallDisk", "loop_disk", "small_disk"]

EXT4_IOC_SHUTDOWN = 0x8004587D
"""`_IOR('X', 125, __u32)`, fs/ext4/ext4.h of Linux."""
GOING_DOWN_WITHOUT_FLUSH = 2
"""Neither dirty pages nor the journal's own buffers reach the device any more."""
UNMOUNT_SECONDS = 60
ROOM_MEBIBYTES = 128
"""Room on a small disk beside the data that is put there."""
BALLAST = ".ballast"


class DiskUnavailableError(LabError):
    """Error for a machine or a user that cannot mount a file system of its own."""

    def __init__(self, why: str) -> None:
        super().__init__(f"No disk of its own is available: {why}", exit_code=ExitCode.USAGE)


@dataclass(frozen=True)
class LoopDisk:
    """An ext4 file system that lives in a file."""

    image: Path
    folder: Path
    """Mount point."""

    def cut(self) -> None:
        """Switch the power off: from now on every write fails, and unsynced data is lost."""
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
        """Mount the disk. Raise DiskUnavailableError when that is not allowed."""
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
        """Unmount the disk. Raise OSError when some process still has a file open there."""
        done = _run("umount", str(self.folder))
        if done.returncode != 0:
            raise OSError(done.stderr.strip())


@dataclass(frozen=True)
class SmallDisk:
    """The file system of one service's data."""

    folder: Path

    @contextmanager
    def full(self) -> Iterator[None]:
        """Leave no free byte on the disk while the block runs."""
        ballast = self.folder / BALLAST
        try:
            with ballast.open("wb", buffering=0) as file:
                _fill(file.fileno())
            yield
        finally:
            ballast.unlink()


@contextmanager
def small_disk(
    folder: Path, stopped: Callable[[], AbstractContextManager[None]]
) -> Iterator[SmallDisk]:
    """Move `folder`, with all that is in it, to a disk with little room while the block runs.

    Users of the folder are `stopped` while its content is moved. Raise DiskUnavailableError where
    such a disk is not available; nothing has changed then.
    """
    aside, back, image = (folder.with_name(f"{folder.name}.{end}") for end in ("was", "is", "disk"))
    held = sum(file.lstat().st_blocks * 512 for file in folder.rglob("*"))
    # ext4 takes a part of it for itself.
    mebibytes = held * 11 // 10 // 1024**2 + ROOM_MEBIBYTES
    with ExitStack() as disk:
        with stopped():
            folder.rename(aside)
            folder.mkdir()
            try:
                disk.enter_context(loop_disk(image, folder, mebibytes=mebibytes))
                _copy(aside, folder)
            except BaseException:
                disk.close()
                folder.rmdir()
                aside.rename(folder)
                raise
        try:
            yield SmallDisk(folder)
        finally:
            with stopped():
                back.mkdir()
                _copy(folder, back)
                disk.close()
                folder.rmdir()
                back.rename(folder)
                shutil.rmtree(aside)


@contextmanager
def loop_disk(image: Path, folder: Path, *, mebibytes: int) -> Iterator[LoopDisk]:
    """Mount a new disk of `mebibytes` at `folder`; unmount and delete it afterwards.

    Raise DiskUnavailableError where that is not possible: it takes root and a loop device.
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
        # Some servers treat every folder as theirs.
        (folder / "lost+found").rmdir()
        try:
            yield disk
        finally:
            disk.unmount()
    finally:
        image.unlink()


def _run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def _copy(source: Path, target: Path) -> None:
    """Copy all that is in `source`, with its owners. Raise OSError when that fails."""
    done = _run("cp", "--archive", f"{source}/.", str(target))
    if done.returncode != 0:
        raise OSError(done.stderr.strip())


def _fill(descriptor: int) -> None:
    """Grow a file until it takes everything that is left on its file system."""
    size, end = 1024**3, 0
    while size >= os.fstatvfs(descriptor).f_bsize:
        try:
            os.posix_fallocate(descriptor, end, size)
            end += size
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            size //= 2
