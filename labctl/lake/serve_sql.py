"""`python -m labctl.lake.serve_sql`: Athena's and Glue's APIs over the silver tables of a lab.

What is secret comes in a file: the login to PostgreSQL, and the key of the object store, with which
requests must be signed, too, as on AWS.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

# Processes that run queries import this module again, and do not need what `main` imports.
if TYPE_CHECKING:
    from tenacity import RetryCallState

__all__ = ["main"]

ANY_ADDRESS = "0.0.0.0"  # noqa: S104 - of the container, published on the host's loopback
_CONNECT_SECONDS = 5
_CACHED_BYTES = 96 * 1024**2
"""Size limit of the row cache. Seven tables with some 424,000 rows take 30 MiB, and 75 MiB with
Hudi's own columns."""
log = logging.getLogger("sqlapi")


def main() -> None:
    from sqlapi.pandas_left_out import leave_pandas_out

    leave_pandas_out()

    from pydantic import SecretStr

    from labctl.config.endpoints import ObjectStore
    from labctl.lake.lake import Lake
    from labctl.lake.table_cache import TableCache
    from labctl.lake.table_source import LakeSource, own_folders
    from sqlapi.server import LOOPBACK, serve
    from sqlapi.settings import Settings
    from sqlapi.storage import Storage

    parser = argparse.ArgumentParser(prog="python -m labctl.lake.serve_sql", description=__doc__)
    parser.add_argument("--secrets", type=Path, required=True, help="JSON: dsn and the key")
    parser.add_argument("--endpoint-url", required=True, help="of the object store")
    parser.add_argument("--bucket", required=True)
    parser.add_argument("--region", required=True)
    parser.add_argument("--bronze", default="topics", help="folders of the bucket, with commas")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--memory", required=True, help="for a query, as DuckDB writes sizes")
    parser.add_argument("--workers", type=int, required=True, help="queries that run at once")
    parser.add_argument("--scratch", type=Path, required=True, help="folder for files of queries")
    parser.add_argument("--in-container", action="store_true", help="listen on every address")
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    secrets = json.loads(given.secrets.read_text(encoding="utf-8"))
    store = ObjectStore(
        endpoint_url=given.endpoint_url,
        region=given.region,
        access_key=SecretStr(secrets["access_key"]),
        secret_key=SecretStr(secrets["secret_key"]),
        bucket=given.bucket,
    )
    lake = Lake(store)
    settings = Settings(
        dsn=secrets["dsn"],
        keys={secrets["access_key"]: secrets["secret_key"]},
        output=f"s3://{store.results}/",
        region=given.region,
        memory=given.memory,
        concurrency=given.workers,
        scratch=given.scratch,
    )
    _wait_for_postgres(settings.dsn)
    host = ANY_ADDRESS if given.in_container else LOOPBACK
    bronze = [folder for folder in given.bronze.split(",") if folder]
    storage = Storage(lake.storage.filesystem, own_folders(store.bucket, bronze))
    tables = given.scratch / "tables"
    shutil.rmtree(tables, ignore_errors=True)
    source = LakeSource(lake, cache=TableCache(tables, _CACHED_BYTES))
    serve(settings, source, storage, port=given.port, host=host)


def _wait_for_postgres(dsn: str) -> None:
    """Wait until PostgreSQL answers, however long it takes.

    A process that exits again and again while PostgreSQL is away is not restarted any more.
    """
    import psycopg
    from tenacity import Retrying, retry_if_exception_type, wait_fixed

    retrying = Retrying(
        retry=retry_if_exception_type(psycopg.OperationalError),
        wait=wait_fixed(1),
        before_sleep=lambda state: log.warning("waiting for PostgreSQL: %s", _cause(state)),
    )
    retrying(lambda: psycopg.connect(dsn, connect_timeout=_CONNECT_SECONDS).close())


def _cause(state: RetryCallState) -> str:
    error = state.outcome.exception() if state.outcome else None
    return str(error).partition("\n")[0]


if __name__ == "__main__":
    main()
