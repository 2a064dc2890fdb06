"""The service's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """The database of the state, the access keys, and the limits of queries."""

    dsn: str
    """DSN of a PostgreSQL database, in which the service uses only its own schema `sqlapi`."""
    keys: Mapping[str, str]
    """Secrets by access key. Requests must be signed with one of them."""
    output: str
    """Default folder for results, `s3://bucket/folder/`: that of workgroup `primary`."""
    region: str = "us-east-1"
    account: str = "000000000000"
    concurrency: int = 3
    """Queries that run at the same time, each in its own process; others are QUEUED."""
    queue: int = 100
    """Queries that may be QUEUED; beyond it, the answer is TooManyRequestsException."""
    seconds: float = 1800
    """Seconds after which a running query is ended and FAILED. Athena's limit is 1800, too."""
    memory: str = "256MB"
    """DuckDB's memory for one query, in DuckDB's notation; beyond it, DuckDB spills to files. The
    kernel limits the query's whole process, with its tables and texts, to twice as much. A query
    that needs more fails.
    """
    spill: str = "2GB"
    """Largest size of one query's spilled files on disk."""
    result_bytes: int = 1024**3
    """Largest size of one query's result in bytes."""
    scratch: Path | None = None
    """Folder for temporary files, on a disk. None: a new folder in /tmp."""
    threads: int = 2
    """DuckDB's threads for one query."""
    catalog: str = "AwsDataCatalog"

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"
