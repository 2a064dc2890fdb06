"""What the service is told when it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    concurrency: int = 4
    """Queries that run at once; more are QUEUED."""
    memory: str = "1GB"
    """For DuckDB, as it writes sizes."""
    threads: int = 2
    catalog: str = "AwsDataCatalog"

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{self.region}:{self.account}:{resource}"
