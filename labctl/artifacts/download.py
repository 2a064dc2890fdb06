"""Resumable, verified HTTP downloads."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

import requests
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random_exponential

from labctl.artifacts.checksum import require
from labctl.artifacts.job import Job
from labctl.artifacts.lock import LockedFile
from labctl.errors import ExitCode, LabError

__all__ = ["download"]

ATTEMPTS = 5
TIMEOUT = (10, 30)
"""Seconds allowed to connect, and between two reads."""
CHUNK = 1 << 17

_local = threading.local()


class _TransientError(Exception):
    """A failure that may not recur: the download is tried again."""


class _AbsentError(Exception):
    """The registry does not have the file."""


def download(urls: list[str], target: Path, file: LockedFile, job: Job) -> None:
    """Download `file` to `target` from the first of `urls` that has it.

    If the download breaks off, `<target>.part` keeps the received bytes and the next attempt
    continues from there. Raises LabError if the file is not available or does not match the lock.
    """
    what = f"{file.name} {file.version}"
    transfer = _Transfer(target.with_name(f"{target.name}.part"), file.size, job)
    with job.connections:
        for url in urls:
            try:
                digest = _with_retries(transfer, url, what)
            except _AbsentError:
                continue
            require(transfer.partial, file.sha256, what=what, found=digest)
            transfer.partial.rename(target)
            return
    raise LabError(
        f"{what} ({target.name}) is not in the registry",
        hint="check which repositories are configured on this machine",
        exit_code=ExitCode.ENVIRONMENT,
    )


def _with_retries(transfer: _Transfer, url: str, what: str) -> str:
    job = transfer.job
    retrying = Retrying(
        retry=retry_if_exception_type((_TransientError, requests.RequestException)),
        stop=stop_after_attempt(ATTEMPTS),
        wait=wait_random_exponential(multiplier=1, max=8),
        sleep=lambda seconds: job.check() if job.cancelled.wait(seconds) else None,
        reraise=True,
    )
    try:
        return retrying(transfer.receive, url)
    except (_TransientError, requests.RequestException) as error:
        raise LabError(
            f"cannot download {what}",
            hint="check the network and proxy settings, then run the command again: "
            "it continues where it stopped",
            details=(f"{type(error).__name__}: {error}",),
            exit_code=ExitCode.ENVIRONMENT,
        ) from error


class _Transfer:
    """The download of one file, across all attempts."""

    def __init__(self, partial: Path, size: int, job: Job) -> None:
        self.partial = partial
        self.size = size
        self.job = job
        self._reported = 0

    def receive(self, url: str) -> str:
        """Receive the missing bytes and return the hex SHA-256 of the whole file."""
        received = self._received()
        headers = {"Accept-Encoding": "identity"}
        if received:
            headers["Range"] = f"bytes={received}-"
        with _session().get(url, headers=headers, stream=True, timeout=TIMEOUT) as response:
            _check(response)
            resumed = received and response.status_code == requests.codes.partial_content
            with self.partial.open("ab+" if resumed else "wb+") as sink:
                sink.seek(0)
                digest = hashlib.file_digest(sink, "sha256")
                self._report(sink.tell())
                for chunk in response.iter_content(CHUNK):
                    sink.write(chunk)
                    digest.update(chunk)
                    self._report(sink.tell())
                complete = sink.tell() >= self.size
        if not complete:
            raise _TransientError("the connection ended early")
        return digest.hexdigest()

    def _received(self) -> int:
        received = self.partial.stat().st_size if self.partial.exists() else 0
        if received < self.size:
            return received
        self.partial.unlink()
        return 0

    def _report(self, position: int) -> None:
        self.job.advance(position - self._reported)
        self._reported = position


def _check(response: requests.Response) -> None:
    if response.status_code == requests.codes.not_found:
        raise _AbsentError
    if response.status_code == requests.codes.too_many_requests or response.status_code >= 500:
        raise _TransientError(f"HTTP {response.status_code} {response.reason}")
    if not response.ok:
        raise LabError(
            f"the registry refused the download of {Path(response.url).name}",
            hint="check the network and proxy settings",
            details=(f"HTTP {response.status_code} {response.reason}",),
            exit_code=ExitCode.ENVIRONMENT,
        )


def _session() -> requests.Session:
    """Return this thread's session: requests' sessions are not meant to be shared."""
    session: requests.Session | None = getattr(_local, "session", None)
    if session is None:
        session = _local.session = requests.Session()
    return session
