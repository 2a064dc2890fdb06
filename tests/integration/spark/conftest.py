"""Kafka, registry, object store and the Spark application, without databases.

The lab's project is a copy whose tables are this suite's own, one or more for each subject, so that
a table that is stopped on purpose is in nobody's way.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest
import requests
from hudi import HudiReadOptions, HudiTableBuilder

from labctl.config.lab_config import find_project
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy
from labctl.lab.lifecycle.up import up
from labctl.lake.objectstore import s3_client
from labctl.services.silver_service import SERVICE, options
from labctl.testing.reporter import TerminalReporter
from tests import quick_start
from tests.integration.spark.change_records import Topics

LAB = "silver-suite"
WAIT_SECONDS = 300.0

MOR, COW = "MERGE_ON_READ", "COPY_ON_WRITE"
BY_OPERATION = (
    "hoodie.datasource.write.partitionpath.field=__op\n"
    "hoodie.datasource.write.keygenerator.class=org.apache.hudi.keygen.SimpleKeyGenerator\n"
)
"""Few partitions, and a row that changes is in another one."""
TABLES = {
    "mor_soft": (MOR, ""),
    "cow_soft": (COW, ""),
    "mor_hard": (MOR, "lab.deletes=hard"),
    "cow_hard": (COW, "lab.deletes=hard"),
    "mor_moves": (MOR, BY_OPERATION),
    "cow_moves_hard": (COW, f"{BY_OPERATION}lab.deletes=hard"),
    "cut_mor_hard": (MOR, "lab.deletes=hard"),
    "cut_cow_hard": (COW, "lab.deletes=hard"),
    "cut_mor_soft": (MOR, ""),
    "cut_cow_soft": (COW, ""),
    "cut_moves": (MOR, BY_OPERATION),
    "cut_moves_hard": (COW, f"{BY_OPERATION}lab.deletes=hard"),
    "cut_letter": (MOR, "lab.on.bad.record=deadletter"),
    "cut_parted": (MOR, "lab.on.bad.record=deadletter"),
    "daily": (COW, "lab.deletes=hard"),
    "later": (COW, "lab.on.bad.record=deadletter"),
    "aged": (COW, ""),
    "mor_wide": (MOR, ""),
    "cow_wide": (COW, "hoodie.bucket.index.num.buckets=4"),
    "mor_schema": (MOR, ""),
    "cow_schema": (COW, "hoodie.bucket.index.num.buckets=4"),
    "conflict": (MOR, ""),
    "spoiled_stop": (MOR, ""),
    "remade": (MOR, ""),
    "grown": (MOR, ""),
    "unknown_schema": (MOR, ""),
    "spoiled_aside": (MOR, "lab.on.bad.record=deadletter"),
    "both_forms": (MOR, "lab.on.bad.record=deadletter"),
    "compacted": (MOR, "hoodie.compact.inline.max.delta.commits=3"),
    "compacted_by_records": (MOR, "lab.compact.after.records=20"),
    "crashed_mor": (MOR, ""),
    "crashed_cow": (COW, ""),
    "parted": (MOR, ""),
    "respread": (COW, ""),
    "by_value": (COW, "hoodie.streamer.source.dfs.root=raw/tickit.ecomm.by_value"),
}
"""Every table of the suite: its type, and what else its properties say."""


_MADE_OTHERWISE = ("parted", "cut_parted", "remade")


def topic_of(table: str) -> str:
    return f"tickit.ecomm.{table}"


def full_name(table: str) -> str:
    return f"tickit.{table}"


def properties_of(project: Path, table: str) -> Path:
    return project / "spark" / "properties" / f"{topic_of(table)}.properties"


def _split_sinks(connectors: Path) -> None:
    """Three sinks: by day, by partition, and by value in another folder."""
    shipped = connectors / "sink_connector_kafka_s3_avro_tickit.json"
    config = json.loads(shipped.read_text(encoding="utf-8"))
    package = config["partitioner.class"].rpartition(".")[0]
    pattern = config.pop("topics.regex")
    others = {
        "parted": {"partitioner.class": f"{package}.DefaultPartitioner"},
        "by_value": {
            "partitioner.class": f"{package}.FieldPartitioner",
            "partition.field.name": "nationality",
            "topics.dir": "raw",
            "flush.size": "25",
        },
    }
    for table, own in others.items():
        text = json.dumps(config | own | {"topics": topic_of(table)})
        (connectors / f"sink_connector_{table}.json").write_text(text, encoding="utf-8")
    config["topics.regex"] = rf"(?!.*\.({'|'.join(others)})$){pattern}"
    shipped.write_text(json.dumps(config), encoding="utf-8")


def _project(folder: Path) -> Path:
    project = find_project(Path(__file__))
    text = (project / "lab.toml").read_text(encoding="utf-8")
    (folder / "lab.toml").write_text(text + quick_start.TOML, encoding="utf-8")
    for part in ("connectors", "spark"):
        shutil.copytree(project / part, folder / part)
    _split_sinks(folder / "connectors")
    properties = folder / "spark" / "properties"
    for file in properties.glob("tickit.*"):
        file.unlink()
    for name, (table_type, extra) in TABLES.items():
        properties_of(folder, name).write_text(
            "include=base.properties\n"
            f"hoodie.table.name={name}\n"
            f"hoodie.datasource.write.table.type={table_type}\n"
            "hoodie.datasource.write.recordkey.field=id\n"
            f"hoodie.streamer.source.kafka.topic={topic_of(name)}\n"
            f"hoodie.streamer.source.dfs.root=topics/{topic_of(name)}\n"
            f"{extra}\n",
            encoding="utf-8",
        )
    return folder


@pytest.fixture(scope="package")
def silver_lab(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lab]:
    project = _project(tmp_path_factory.mktemp("project"))
    lab = Lab.find(name=LAB, project=project)
    if lab.state.exists:
        destroy(lab)
        lab = Lab.find(name=LAB, project=project)
    up(lab, TerminalReporter(request.config), ["silver"])
    yield lab
    destroy(lab)


@pytest.fixture(scope="package")
def topics(silver_lab: Lab) -> Topics:
    endpoints = silver_lab.endpoints
    made = Topics(endpoints.kafka, endpoints.registry.url)
    made.create(*(topic_of(name) for name in TABLES if name not in _MADE_OTHERWISE))
    made.create(topic_of("parted"), partitions=3)
    made.create(topic_of("cut_parted"), partitions=2)
    # Bronze's query has begun without this one, and finds it by its pattern.
    Silver(silver_lab).is_in_state("bronze", "running")
    made.create(topic_of("remade"))
    return made


@dataclass(frozen=True)
class Silver:
    """The running application, and what it has written."""

    lab: Lab

    def status(self, table: str) -> dict[str, Any]:
        response = requests.get(f"{self.lab.endpoints.silver.status_url}/status", timeout=10)
        found: dict[str, Any] = response.json()
        return dict(found["bronze"] if table == "bronze" else found["tables"][full_name(table)])

    def ask(self, table: str, action: str) -> None:
        silver = self.lab.endpoints.silver
        url = f"{silver.status_url}/tables/{full_name(table)}/{action}"
        answer = requests.post(url, headers=silver.headers, timeout=10)
        assert answer.status_code == requests.codes.accepted

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait for `condition`, through the application's restarts; fail saying `what`."""
        deadline = time.monotonic() + WAIT_SECONDS
        problem = ""
        while True:
            try:
                if condition():
                    return
            except (requests.RequestException, KeyError, TypeError) as error:
                problem = repr(error)
            if time.monotonic() > deadline:
                pytest.fail(f"{what}: not after {WAIT_SECONDS:g} s {problem}\n{self._states()}")
            time.sleep(0.1)

    def _states(self) -> str:
        """What the application says of itself, for the message of a test that fails."""
        try:
            url = f"{self.lab.endpoints.silver.status_url}/status"
            return json.dumps(requests.get(url, timeout=10).json(), indent=1)
        except requests.RequestException as error:
            return repr(error)

    def has_taken(self, table: str, end: int, partition: int = 0) -> None:
        """Wait until `table` has everything below offset `end`."""
        self.until(
            lambda: self.status(table)["offsets"].get(str(partition), 0) >= end,
            f"{table} has taken in what is below offset {end} of partition {partition}",
        )

    def is_in_bronze(self, table: str, end: int, partition: int = 0) -> None:
        """Wait until bronze has everything of a table's topic below offset `end`."""
        topic = topic_of(table)
        self.until(
            lambda: self.status("bronze")["offsets"][topic].get(str(partition), 0) >= end,
            f"bronze has what is below offset {end} of {topic} partition {partition}",
        )

    def is_in_state(self, table: str, state: str) -> dict[str, Any]:
        self.until(lambda: self.status(table)["state"] == state, f"{table} is {state}")
        return self.status(table)

    def read(self, table: str, *, lake: str = "silver", as_of: str | None = None) -> pa.Table:
        """The table's rows without Hudi's own columns, through hudi-rs."""
        store = self.lab.endpoints.objectstore
        assert store.access_key is not None
        assert store.secret_key is not None
        storage = {
            "aws_endpoint": store.endpoint_url or "",
            "aws_access_key_id": store.access_key.get_secret_value(),
            "aws_secret_access_key": store.secret_key.get_secret_value(),
            "aws_region": store.region,
            "aws_allow_http": "true",
        }
        uri = f"s3://{store.bucket}/{lake}/tickit/{table}"
        reading = HudiReadOptions()
        if as_of is not None:
            reading = reading.with_as_of_timestamp(as_of)
        built = HudiTableBuilder.from_base_uri(uri).with_options(storage).build()
        found = pa.concat_tables(
            [pa.Table.from_batches([batch]) for batch in built.read(reading)],
            promote_options="permissive",
        )
        return found.drop_columns([n for n in found.column_names if n.startswith("_hoodie")])

    def rows(self, table: str, **reading: Any) -> dict[Any, dict[str, Any]]:
        """The rows by their `id`; fails when one occurs twice."""
        rows = self.read(table, **reading).to_pylist()
        by_id = {row["id"]: row for row in rows}
        assert len(by_id) == len(rows)
        return by_id

    def objects(self, prefix: str) -> dict[str, bytes]:
        """The bucket's objects below `prefix`."""
        client, bucket = self._s3, self.lab.endpoints.objectstore.bucket
        pages = client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
        return {
            one["Key"]: client.get_object(Bucket=bucket, Key=one["Key"])["Body"].read()
            for page in pages
            for one in page.get("Contents", [])
        }

    def put(self, key: str, content: bytes) -> None:
        """Write an object of the bucket."""
        self._s3.put_object(Bucket=self.lab.endpoints.objectstore.bucket, Key=key, Body=content)

    @property
    def _s3(self) -> Any:
        return s3_client(self.lab.endpoints.objectstore)

    def instants(self, table: str, action: str) -> list[str]:
        """When the table's completed `action`s were asked for, the oldest first."""
        timeline = f"silver/tickit/{table}/.hoodie/timeline/"
        names = [name.removeprefix(timeline) for name in self.objects(timeline)]
        return sorted(name.split("_")[0] for name in names if name.endswith(f".{action}"))

    def kill(self, service: str) -> None:
        """`kill -9` a service; the lab's supervisor starts it again."""
        pid = self.lab.runtime.states()[service].pid
        subprocess.run(["kill", "-9", str(pid)], check=True)

    def run_once(
        self,
        *tables: str,
        source: Literal["kafka", "bronze"],
        target: str,
        retention_seconds: int | None = None,
    ) -> None:
        """Run a second application over `tables` until it has taken in what there is."""
        context = self.lab.context(self.lab.service("silver"))
        service = SERVICE.native_form.process(context)
        chosen = replace(
            options(context),
            tables=tables,
            source=source,
            target_base_path=f"s3a://{self.lab.endpoints.objectstore.bucket}/{target}",
            checkpoint_base_path=(context.data / target).as_uri(),
            sink_configs=(),
            secrets_dir=None,
            status_port=None,
            retention_seconds=retention_seconds,
            once=True,
        )
        own = options(context).argv()
        done = subprocess.run(
            [*service.argv[: -len(own)], *chosen.argv()],
            env={"PATH": "/usr/bin:/bin", **service.env},
            cwd=service.cwd,
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS * 2,
            check=False,
        )
        assert done.returncode == 0, done.stderr[-4000:]


@pytest.fixture(scope="package")
def silver(silver_lab: Lab, topics: Topics) -> Silver:
    return Silver(silver_lab)
