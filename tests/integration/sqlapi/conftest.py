"""A PostgreSQL, a MinIO and an SQL endpoint over Arrow tables, for all tests of this folder."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pyarrow as pa
import pytest
import uvicorn
from botocore.config import Config
from pyarrow import fs
from pydantic import SecretStr

from labctl.artifacts import ArtifactStore
from labctl.config.endpoints import ObjectStore
from labctl.lab.clients.client_environment import object_store_variables
from labctl.services.sqlapi_service import SqlApi
from sqlapi.server import build
from sqlapi.settings import Settings
from sqlapi.sources.memory import MemorySource
from sqlapi.storage import OwnFolder, Storage
from tests.integration.sqlserver.conftest import Postgres, eventually, postgres_binaries
from tests.ports import free_port

KEY, SECRET = "lab", "a-secret-of-the-tests"
BUCKET = "athena-results"
OUTPUT = f"s3://{BUCKET}/results/"
REGION = "us-east-1"


def sales() -> dict[str, pa.Table]:
    """The tables of a source, by database and name."""
    sale = pa.table(
        {
            "_hoodie_commit_time": ["1", "1", "2"],
            "id": pa.array([1, 2, 3], pa.int32()),
            "categoryid": pa.array([1, 2, 1], pa.int32()),
            "price": pa.array([Decimal("10.50"), Decimal("3.25"), None], pa.decimal128(8, 2)),
            "qty": pa.array([2, 1, 4], pa.int16()),
            "at": pa.array([datetime(2024, 3, d, 14, 7, 9, 123000) for d in (1, 2, 3)]),
            "day": [date(2024, 3, 1), date(2024, 3, 2), None],
            "note": ['a,"b"', "", None],
        }
    )
    category = pa.table({"id": pa.array([1, 2], pa.int32()), "Name": ["Musicals", "Öper"]})
    shape = pa.table({"a": [[1, 2], []], "s": [{"X": 1, "y": "p"}, {"X": None, "y": "q"}]})
    return {
        "tickit.sale": sale, "tickit.category": category, "moma.artists": category,
        "tickit.shape": shape, "tickit.many": pa.table({"n": pa.array(range(5000), pa.int64())}),
    }  # fmt: skip


@dataclass
class Endpoint:
    """A running endpoint, and clients of it."""

    url: str
    store_url: str
    dsn: str

    def client(self, service: str, **options: Any) -> Any:
        given = {
            "endpoint_url": self.store_url if service == "s3" else self.url,
            "region_name": REGION, "aws_access_key_id": KEY, "aws_secret_access_key": SECRET,
            "config": Config(retries={"max_attempts": 1}, s3={"addressing_style": "path"}),
        }  # fmt: skip
        make: Any = boto3.client
        return make(service, **{**given, **options})


class Serving:
    """A server in a thread of this process; `stop` ends it as SIGTERM would."""

    def __init__(self, settings: Settings, storage: Storage, source: Any, port: int) -> None:
        app = build(settings, source, storage)
        config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run)
        self.thread.start()
        eventually(lambda: self.server.started, "the endpoint listens")

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(30)


@pytest.fixture(scope="package")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    folder = Path(tmp_path_factory.mktemp("postgres"))
    for parent in (folder, *folder.parents):
        mode = parent.stat().st_mode
        if parent.stat().st_uid == os.geteuid() and mode & 0o111 != 0o111:
            parent.chmod(mode | 0o111)
    server = Postgres(postgres_binaries(), folder / "data", free_port())
    server.create()
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="package")
def minio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an object store with a bucket for results."""
    artifacts = ArtifactStore()
    artifacts.fetch(["minio"])
    address, folder = f"127.0.0.1:{free_port()}", str(tmp_path_factory.mktemp("minio"))
    server = subprocess.Popen(
        [str(artifacts.minio()), "server", "--quiet", "--address", address, folder],
        env={
            "MINIO_ROOT_USER": KEY, "MINIO_ROOT_PASSWORD": SECRET, "MINIO_BROWSER": "off",
            "MINIO_UPDATE": "off", "HOME": folder,
        },
    )  # fmt: skip
    try:
        s3 = Endpoint("", f"http://{address}", "").client("s3")

        def made() -> bool:
            try:
                s3.create_bucket(Bucket=BUCKET)
            except Exception:
                return False
            return True

        eventually(made, "MinIO takes a bucket")
        yield f"http://{address}"
    finally:
        server.terminate()
        server.wait(30)


@pytest.fixture(scope="package")
def storage(minio: str) -> Storage:
    return Storage(
        fs.S3FileSystem(
            access_key=KEY, secret_key=SECRET, region=REGION, scheme="http",
            endpoint_override=minio.removeprefix("http://"),
        ),
        (OwnFolder(f"s3://{BUCKET}/silver", "the lake's tables", tables=True),),
    )  # fmt: skip


@pytest.fixture(scope="package")
def source() -> MemorySource:
    tables = sales()
    optimized = {"moma.artists": tables["moma.artists"].slice(0, 1)}
    return MemorySource(tables, optimized, {"moma.artists": ["Name"]})


@pytest.fixture(scope="package")
def endpoint(
    postgres: Postgres, minio: str, storage: Storage, source: MemorySource
) -> Iterator[Endpoint]:
    postgres.sql("CREATE DATABASE endpoint")
    port = free_port()
    settings = Settings(dsn=postgres.dsn("endpoint"), keys={KEY: SECRET}, output=OUTPUT)
    serving = Serving(settings, storage, source, port)
    yield Endpoint(f"http://127.0.0.1:{port}", minio, settings.dsn)
    serving.stop()


@pytest.fixture
def aws_variables(endpoint: Endpoint, tmp_path: Path) -> dict[str, str]:
    """What `labctl client env` sets of AWS for a lab with this endpoint."""
    keys = {"access_key": SecretStr(KEY), "secret_key": SecretStr(SECRET)}
    folder = tmp_path / "clients"
    folder.mkdir()
    store = ObjectStore(endpoint_url=endpoint.store_url, region=REGION, bucket=BUCKET, **keys)
    api = SqlApi(url=endpoint.url, region=REGION, **keys)
    return {**object_store_variables(store, folder), **api.variables}


class Athena:
    """Short forms for tests."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def start(self, sql: str, database: str = "tickit", **options: Any) -> str:
        return str(
            self.client.start_query_execution(
                QueryString=sql, QueryExecutionContext={"Database": database}, **options
            )["QueryExecutionId"]
        )

    def ended(self, id_: str) -> dict[str, Any]:
        found: dict[str, Any] = {}

        def done() -> bool:
            answer = self.client.get_query_execution(QueryExecutionId=id_)
            found.update(answer["QueryExecution"])
            return found["Status"]["State"] in ("SUCCEEDED", "FAILED", "CANCELLED")

        eventually(done, f"execution {id_} ends", 30)
        return found

    def rows(self, sql: str, database: str = "tickit", **options: Any) -> list[list[str | None]]:
        """Rows of a query without the names, or the lines of a utility statement."""
        id_ = self.start(sql, database, **options)
        execution = self.ended(id_)
        assert execution["Status"]["State"] == "SUCCEEDED", execution["Status"]
        answer = self.client.get_query_results(QueryExecutionId=id_)
        rows = [[d.get("VarCharValue") for d in r["Data"]] for r in answer["ResultSet"]["Rows"]]
        csv = execution["ResultConfiguration"]["OutputLocation"].endswith(".csv")
        return rows[1:] if csv else rows

    def error(self, sql: str, database: str = "tickit", **options: Any) -> str:
        """Why a statement fails, at once or while it runs."""
        try:
            execution = self.ended(self.start(sql, database, **options))
        except self.client.exceptions.InvalidRequestException as error:
            return str(error)
        assert execution["Status"]["State"] == "FAILED", execution["Status"]
        return str(execution["Status"]["StateChangeReason"])


@pytest.fixture
def athena(endpoint: Endpoint) -> Athena:
    return Athena(endpoint.client("athena"))
