"""Counting the object store's requests during a run, from MinIO's trace.

The trace names the client of every request, which separates the requests of the measurement itself.
It also reports every commit at once, so nothing has to poll for commits.
"""

from __future__ import annotations

import json
import threading
from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import requests

from labctl.aws.signed import signed_request
from labctl.config.endpoints import ObjectStore
from labctl.latency.latency_report import RequestFigures, StoreUsage

__all__ = ["RequestTrace"]

_PATH = "/minio/admin/v3/trace?s3=true"
_PIPELINE = "aws-sdk-java"
"""Text in the user agents of Spark and Kafka Connect, but of no client of this program."""
_WRITES = ("PutObject", "CompleteMultipartUpload")
_TIMEOUT = 5.0
_RECONNECT_SECONDS = 0.5


class RequestTrace:
    """A thread that counts requests by client and kind, and reports written objects."""

    def __init__(self, store: ObjectStore, on_write: Callable[[str], None]) -> None:
        """Call `on_write` with the path of every written object, on this trace's own thread."""
        self._store = store
        self._on_write = on_write
        self._counts: dict[bool, Counter[str]] = defaultdict(Counter)
        self._bytes: dict[bool, Counter[str]] = defaultdict(Counter)
        self._gaps = 0
        self._open: requests.Response | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="requests", daemon=True)

    def start(self) -> None:
        """Start the trace, unless the store is not a MinIO that reports its requests."""
        if self._store.endpoint_url is None or self._store.secret_key is None:
            return
        try:
            self._open = self._connect()
        except requests.RequestException:
            return
        self._thread.start()

    @property
    def is_live(self) -> bool:
        """True while the store reports its requests."""
        return self._open is not None

    def begin(self) -> None:
        """Reset the counts to zero."""
        self._counts, self._bytes = defaultdict(Counter), defaultdict(Counter)
        self._gaps = 0

    def stop(self) -> None:
        """Stop the trace; safe to repeat."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()

    def usage(self) -> StoreUsage | None:
        """Return the counts; None if the store does not report its requests."""
        if self._thread.ident is None:
            return None
        return StoreUsage(
            pipeline=self._figures(True), measuring=self._figures(False), gaps=self._gaps
        )

    def _figures(self, pipeline: bool) -> RequestFigures:
        counts, size = self._counts[pipeline], self._bytes[pipeline]
        return RequestFigures(
            requests=sum(counts.values()),
            by_kind=dict(sorted(counts.items())),
            bytes_received=size["received"],
            bytes_sent=size["sent"],
        )

    def _connect(self) -> requests.Response:
        access, secret = self._store.access_key, self._store.secret_key
        assert access is not None  # noqa: S101 - `start` looked
        assert secret is not None  # noqa: S101
        return signed_request(
            "GET",
            f"{self._store.endpoint_url}{_PATH}",
            service="s3",
            region=self._store.region,
            key=(access, secret),
            timeout=_TIMEOUT,
            stream=True,
        )

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self._open is None:
                    self._open = self._connect()
                self._read(self._open)
            except requests.RequestException:
                # The store is unavailable: an outage may be part of the scenario.
                self._stop.wait(_RECONNECT_SECONDS)
            if not self._stop.is_set():
                self._gaps += 1
            self._open = None

    def _read(self, response: requests.Response) -> None:
        rest = b""
        with response:
            # Without requests, a blank comes every half second, so that this loop can end.
            for part in response.iter_content(None):
                *lines, rest = (rest + part).split(b"\n")
                for line in lines:
                    if line.strip():
                        self._count(json.loads(line))
                if self._stop.is_set():
                    return

    def _count(self, entry: dict[str, Any]) -> None:
        http = entry.get("http") or {}
        headers = (http.get("request") or {}).get("headers") or {}
        pipeline = any(_PIPELINE in agent for agent in headers.get("User-Agent", ()))
        kind = str(entry.get("funcname", "")).removeprefix("s3.")
        self._counts[pipeline][kind] += 1
        if kind in _WRITES:
            self._on_write(str(entry.get("path", "")))
        stats = http.get("stats") or {}
        self._bytes[pipeline]["received"] += int(stats.get("inputbytes", 0))
        self._bytes[pipeline]["sent"] += int(stats.get("outputbytes", 0))
