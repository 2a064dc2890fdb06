"""The object store's requests during a run, from MinIO's own trace of them.

The trace names the client of every request, so that those of the measuring itself are told apart.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import Counter, defaultdict
from typing import Any

import requests
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from labctl.config.endpoints import ObjectStore
from labctl.latency.report import RequestFigures, StoreUsage

__all__ = ["RequestTrace"]

_PATH = "/minio/admin/v3/trace?s3=true"
_PIPELINE = "aws-sdk-java"
"""In the user agent of Spark and Kafka Connect, and of no client of this program."""
_TIMEOUT = 5.0
_RECONNECT_SECONDS = 0.5


class RequestTrace:
    """Counts requests by client and kind until it is stopped."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self._counts: dict[bool, Counter[str]] = defaultdict(Counter)
        self._bytes: dict[bool, Counter[str]] = defaultdict(Counter)
        self._gaps = 0
        self._open: requests.Response | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="requests", daemon=True)

    def start(self) -> bool:
        """Count from now on; False when the store is not a MinIO that shows its requests."""
        if self._store.endpoint_url is None or self._store.secret_key is None:
            return False
        try:
            self._open = self._connect()
        except requests.RequestException:
            return False
        self._thread.start()
        return True

    def stop(self) -> StoreUsage:
        """What was counted."""
        self._stop.set()
        self._thread.join()
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
        digest = hashlib.sha256(b"").hexdigest()
        request = AWSRequest(
            "GET", f"{self._store.endpoint_url}{_PATH}", headers={"X-Amz-Content-Sha256": digest}
        )
        credentials = Credentials(access.get_secret_value(), secret.get_secret_value())
        SigV4Auth(credentials, "s3", self._store.region).add_auth(request)
        response = requests.get(
            str(request.url), headers=dict(request.headers), stream=True, timeout=_TIMEOUT
        )
        response.raise_for_status()
        return response

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                if self._open is None:
                    self._open = self._connect()
                self._read(self._open)
            except requests.RequestException:
                # The store is away: an outage may be part of the scenario.
                self._stop.wait(_RECONNECT_SECONDS)
            if not self._stop.is_set():
                self._gaps += 1
            self._open = None

    def _read(self, response: requests.Response) -> None:
        rest = b""
        with response:
            # A blank every half second when there is nothing to tell, so that this can end.
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
        self._counts[pipeline][str(entry.get("funcname", "")).removeprefix("s3.")] += 1
        stats = http.get("stats") or {}
        self._bytes[pipeline]["received"] += int(stats.get("inputbytes", 0))
        self._bytes[pipeline]["sent"] += int(stats.get("outputbytes", 0))
