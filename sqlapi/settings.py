"""What the service is told when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """Where the state is, who may ask, and what a query may take."""

    dsn: str
    """Of a PostgreSQL database. The service keeps to a schema `sqlapi` of its own."""
    keys: Mapping[str, str]
    """Secrets by access key: requests must be signed with one of them."""
    output: str
    """Where results go by default, `s3://bucket/folder/`: the location of workgroup `primary`."""
    region: str = "us-east-1"
    account: str = "000000000000"
    concurrency: int = 3
    """Queries that run at once, each in a process of its own; more are QUEUED."""
    queue: int = 100
    """Queries that may be QUEUED; of more, StartQueryExecution answers TooManyRequestsException."""
    seconds: float = 1800
    """A query that runs longer is ended, and FAILED. Athena, too, gives it half an hour."""
    memory: str = "256MB"
    """For one query, as DuckDB writes sizes; beyond it DuckDB writes to files. To the process of a
    query that takes twice as much, tables and texts included, the kernel gives no more: it fails.
    """
    spill: str = "2GB"
    """Of one query, on the disk."""
    result_bytes: int = 1024**3
    """Of the result of one query."""
    scratch: Path | None = None
    """A folder for such files, on a disk. None: a new one below /tmp."""
    threads: int = 2
    """Of DuckDB, for one query."""
    catalog: str = "AwsDataCatalog"

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"
