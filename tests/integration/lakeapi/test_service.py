"""What is beside the endpoints: documents, health, metrics, errors, logs; and its processes."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import psutil
import pytest

from lakeapi.statements import LIKES, SELLER, VIEWS
from tests.integration.lakeapi.conftest import (
    BUCKET,
    DATABASE,
    NAMES,
    Api,
    Athena,
    CacheServer,
    Serve,
)
from tests.integration.sqlserver.conftest import eventually
from tests.ports import free_port


def test_the_document_names_all_17_and_types_every_answer(api: Api) -> None:
    document = api.json("/openapi.json")
    assert document["openapi"].startswith("3.1")
    assert document == api.json("/v3/api-docs")
    lake = {p: o["get"] for p, o in document["paths"].items() if o["get"]["tags"] == ["lake"]}
    assert len(lake) == 17
    assert all(path.startswith("/v1/") for path in lake)
    for path, operation in lake.items():
        responses = operation["responses"]
        assert {"200", "422", "503", "504"} <= set(responses)
        assert ("404" in responses) == path.endswith("/{id}")
        assert all(
            set(answer["content"]) == {"application/problem+json"}
            for status, answer in responses.items()
            if status != "200"
        )
    schemas = document["components"]["schemas"]
    price = schemas["Sale"]["properties"]["pricePaid"]
    assert {"type": "number"} in price["anyOf"]
    for path in lake:
        shown = json.dumps(lake[path]["responses"]["200"])
        (name,) = re.findall(r"#/components/schemas/(\w+)", shown)
        assert set(schemas[name]["examples"][0]) == set(schemas[name]["properties"])


def test_pages_load_nothing_from_elsewhere(api: Api) -> None:
    for path in ("/docs", "/swagger-ui/index.html", "/redoc"):
        page = api.get(path)
        assert page.status_code == 200
        parts = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert parts
        assert all(part.startswith("/v1/assets/") for part in parts), parts
        for part in parts:
            assert api.get(part.removeprefix("/v1")).status_code == 200
        assert "/v1/openapi.json" in page.text


def test_health_and_metrics_have_the_names_of_the_posts(api: Api) -> None:
    assert api.json("/actuator/health")["status"] == "UP"
    assert api.json("/health/liveness")["status"] == "UP"
    assert api.json("/health/readiness")["components"] == {"athena": {"status": "UP"}}
    api.json("/users", limit=1)
    sample = 'lakeapi_request_seconds_count{method="GET",route="/v1/users",status="200"}'
    before = api.metric(sample)
    scanned = api.metric("lakeapi_athena_scanned_bytes_total")
    api.json("/users", limit=1)
    assert api.metric(sample) == before + 1
    assert api.metric("lakeapi_athena_scanned_bytes_total") > scanned
    assert "lakeapi_request_seconds_bucket" in api.get("/actuator/prometheus").text


def test_errors_are_problems(api: Api) -> None:
    for path, status in (("/nothing", 404), ("/users/x", 422), ("/users?limit=x", 422)):
        answer = api.get(path)
        told = answer.json()
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert (answer.status_code, told["status"]) == (status, status)
        assert told["instance"] == f"/v1{path.partition('?')[0]}"
        assert told["title"]
        assert told["detail"]
    answer = api.session.post(f"{api.url}/v1/users")
    assert answer.status_code == answer.json()["status"] == 405
    assert "GET" in answer.headers["Allow"]
    # a path that nobody offers is no line of its own in the metrics, nor is an invented method
    assert api.session.request("BREW", f"{api.url}/v1/users").status_code == 405
    metrics = api.get("/metrics").text
    assert "/v1/nothing" not in metrics
    assert "BREW" not in metrics
    assert 'method="other",route="/v1/users",status="405"' in metrics


def test_a_request_keeps_its_id(api: Api) -> None:
    answer = api.get("/categories/1", headers={"X-Request-ID": "of-the-client"})
    assert answer.headers["X-Request-ID"] == "of-the-client"
    other = api.get("/categories/1", headers={"X-Request-ID": "not one; of them"})
    assert re.fullmatch("[0-9a-f]{32}", other.headers["X-Request-ID"])


NEVER_ENDS = f"""
    SELECT count(*) FROM "{NAMES.sale}"
    CROSS JOIN UNNEST(sequence(1, 10000)) AS t(x) CROSS JOIN UNNEST(sequence(1, 10000)) AS u(y)
    WHERE (salesid * x + y) % 7 = 3
"""


def test_a_query_that_takes_too_long_is_stopped(serve: Serve, api: Api) -> None:
    client = boto3.client("athena")
    id_ = client.create_named_query(
        Name="never-ends", Database=DATABASE, QueryString=NEVER_ENDS
    )["NamedQueryId"]  # fmt: skip
    with serve(cache_mode="off", query_seconds=1, named_query_id=id_) as slow:
        answer = slow.get("/buyerlikes")
        assert answer.status_code == answer.json()["status"] == 504
        assert slow.metric('lakeapi_athena_query_seconds_count{state="TIMED_OUT"}') == 1

    def states() -> list[str]:
        ids = client.list_query_executions(MaxResults=50)["QueryExecutionIds"]
        found = client.batch_get_query_execution(QueryExecutionIds=ids)["QueryExecutions"]
        return [one["Status"]["State"] for one in found if one["Query"] == NEVER_ENDS]

    assert states() == ["CANCELLED"]


def test_view_statement_and_query_are_made_once_and_again_when_they_are_dropped(
    serve: Serve, api: Api
) -> None:
    client: Any = boto3.client("athena")
    glue: Any = boto3.client("glue")
    expected = [api.json(path) for path in ("/salesbycategory", "/buyerlikes")]

    def named() -> list[str]:
        ids = client.list_named_queries()["NamedQueryIds"]
        found = client.batch_get_named_query(NamedQueryIds=ids)["NamedQueries"] if ids else []
        return [query["NamedQueryId"] for query in found if query["Name"] == LIKES]

    (id_,) = named()
    with serve(cache_mode="off") as another:
        assert [another.json(p) for p in ("/salesbycategory", "/buyerlikes")] == expected
        assert named() == [id_]
        for view in VIEWS:
            glue.delete_table(DatabaseName=DATABASE, Name=view)
        client.delete_prepared_statement(StatementName=SELLER, WorkGroup="primary")
        client.delete_named_query(NamedQueryId=id_)
        # the first to notice is told to ask again
        assert another.get("/salesbycategory").status_code == 503
        assert [another.json(p) for p in ("/salesbycategory", "/buyerlikes")] == expected
        assert {t["Name"] for t in glue.get_tables(DatabaseName=DATABASE)["TableList"]} > set(VIEWS)
        assert len(named()) == 1
    given = client.create_named_query(
        Name="another", Database=DATABASE, QueryString="SELECT 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
    )["NamedQueryId"]
    with serve(cache_mode="off", named_query_id=given) as other:
        assert list(other.json("/buyerlikes")[0].values()) == list(range(1, 11))


@contextmanager
def process(log: Path, **environment: str) -> Iterator[Api]:
    """`python -m lakeapi`."""
    port = free_port()
    with log.open("wb") as out:
        running = subprocess.Popen(
            [sys.executable, "-m", "lakeapi"],
            env=os.environ | {"LAKEAPI_PORT": str(port), "RESULTS_BUCKET": BUCKET} | environment,
            stdout=out,
            stderr=subprocess.STDOUT,
        )
    api = Api(f"http://127.0.0.1:{port}")

    def answers() -> bool:
        assert running.poll() is None, log.read_text()
        try:
            return bool(api.get("/health/readiness").status_code == 200)
        except OSError:
            return False

    try:
        eventually(answers, "the service answers")
        yield api
    finally:
        api.session.close()
        running.send_signal(signal.SIGTERM)
        running.wait(30)


def test_two_workers_count_together_and_log_json(
    athena: Athena, cache: CacheServer, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with process(log, LAKEAPI_WORKERS="2", REDIS_PORT=str(cache.port)) as api:
        for number in range(20):
            # a connection of its own for each, so that both get some
            api.session.close()
            headers = {"X-Request-ID": f"id-{number}"}
            assert api.get("/venues/1", headers=headers).status_code == 200
        label = 'method="GET",route="/v1/venues/{id}",status="200"'
        assert api.metric(f"lakeapi_request_seconds_count{{{label}}}") == 20
        assert api.cached("venues/id", "miss") == 1
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    asked = [line for line in lines if line.get("path") == "/v1/venues/1"]
    # each worker writes its own lines, so that two neighbours may change places
    assert {line["request_id"] for line in asked} == {f"id-{number}" for number in range(20)}
    assert len(asked) == 20
    assert {(line["status"], line["route"]) for line in asked} == {(200, "/v1/venues/{id}")}


def test_no_worker_is_left_when_the_service_is_killed(
    athena: Athena, cache: CacheServer, tmp_path: Path
) -> None:
    """One that was left would hold the port: the next start could not listen."""
    port = free_port()
    environment = os.environ | {
        "RESULTS_BUCKET": BUCKET, "REDIS_PORT": str(cache.port),
        "LAKEAPI_WORKERS": "2", "LAKEAPI_PORT": str(port),
    }  # fmt: skip
    api = Api(f"http://127.0.0.1:{port}")

    def alive() -> bool:
        try:
            return api.get("/health/liveness").status_code == 200
        except OSError:
            return False

    with (tmp_path / "log").open("w") as log:
        running = subprocess.Popen(
            [sys.executable, "-m", "lakeapi"], env=environment, stdout=log, stderr=log
        )
    eventually(alive, "it answers")
    api.session.close()
    family = psutil.Process(running.pid).children(recursive=True)
    assert len(family) >= 2
    running.kill()
    running.wait(30)
    eventually(lambda: not any(one.is_running() for one in family), "its workers are gone")


@pytest.mark.parametrize(
    ("environment", "told"),
    [
        ({"RESULTS_BUCKET": ""}, "RESULTS_BUCKET is empty"),
        ({"CACHE_MODE": "never"}, "CACHE_MODE"),
        ({"ATHENA_TABLES__SALE": "a b"}, "ATHENA_TABLES__SALE"),
    ],
)
def test_a_bad_setting_is_one_line(environment: dict[str, str], told: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-m", "lakeapi"], env=os.environ | environment | {"LAKEAPI_PORT": "1"}
        if "RESULTS_BUCKET" in environment
        else os.environ | {"RESULTS_BUCKET": "b"} | environment,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    (line,) = ended.stderr.splitlines()
    assert told in line
