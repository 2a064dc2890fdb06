"""A new project with one source and two tables, as `labctl init` writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.config.lab_config import LabConfig
from labctl.lab.lab import Lab
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.project import new_project, write_project
from labctl.state.lab_state import LabState

INVOICE = """\
include=base.properties
hoodie.table.name=invoice
hoodie.datasource.write.table.type=MERGE_ON_READ
hoodie.datasource.write.recordkey.field=invoice_id
hoodie.streamer.source.kafka.topic=orders.public.invoice
hoodie.streamer.source.dfs.root=topics/orders.public.invoice
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    write_project(tmp_path, new_project("shop", [example_source("orders", "postgres")]))
    properties_of(tmp_path, "invoice").write_text(INVOICE)
    return tmp_path


def lab_of(project: Path) -> Lab:
    return Lab(project, LabConfig.load(project / "lab.toml"), "native", LabState("shop"))


def properties_of(project: Path, table: str) -> Path:
    return project / "spark" / "properties" / f"orders.public.{table}.properties"


def base_of(project: Path) -> Path:
    return project / "spark" / "properties" / "base.properties"


def connector_of(project: Path) -> Path:
    return project / "connectors" / "source_connector_orders.json"


def sink_of(project: Path) -> Path:
    return project / "connectors" / "sink_connector_kafka_s3_avro.json"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
