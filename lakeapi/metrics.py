"""The service's metrics, in Prometheus' format."""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

__all__ = ["Metrics"]

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Metrics of one application; with PROMETHEUS_MULTIPROC_DIR, the sums of all workers."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "lakeapi_request_seconds", "Requests by route, and how long they took",
            ("method", "route", "status"), buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip
        self.cache = Counter(
            "lakeapi_cache_requests",
            "What the cache was asked: hit, stale (it outlived its time, and is renewed), miss, "
            "coalesced (waited for an equal request), "
            "or bypassed (Redis or the tables' commits could not be asked)",
            ("endpoint", "result"), registry=self.registry,
        )  # fmt: skip
        self.cache_errors = Counter(
            "lakeapi_cache_errors", "Requests that Redis did not answer", registry=self.registry
        )
        self.cache_up = Gauge(
            "lakeapi_cache_up", "1 while Redis answers", registry=self.registry,
            multiprocess_mode="mostrecent",
        )  # fmt: skip
        self.queries = Histogram(
            "lakeapi_athena_query_seconds", "Athena's queries by how they ended",
            ("state",), buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip
        self.scanned = Counter(
            "lakeapi_athena_scanned_bytes", "What Athena's queries scanned",
            registry=self.registry,
        )  # fmt: skip

    def text(self) -> bytes:
        """Return all metrics in Prometheus' text format."""
        registry = self.registry
        if "PROMETHEUS_MULTIPROC_DIR" in os.environ:
            registry = CollectorRegistry()
            MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)
