"""The Spark application is suspended only where it was started by what there is now."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from labctl.config.endpoints import Silver
from labctl.config.lab_config import LabConfig
from labctl.services import silver_service
from labctl.services.local_endpoints import loopback_endpoints
from labctl.services.service import Context, Suspension
from lakehouse.status_server import StatusServer
from tests.ports import free_port
from tests.unit.service_context import PORTS, PROJECT, SECRET, NamedParts, context_of


def suspension() -> Suspension:
    assert silver_service.SERVICE.suspension is not None
    return silver_service.SERVICE.suspension


@pytest.fixture
def asked() -> list[str]:
    return []


@pytest.fixture
def context(asked: list[str], tmp_path: Path) -> Iterator[Context]:
    """Of an application that was started, and notes what it is asked to do."""
    project = tmp_path / "project"
    for folder in ("spark", "connectors"):
        shutil.copytree(PROJECT / folder, project / folder)
    config = LabConfig.load(PROJECT / "lab.toml")
    made = context_of(silver_service.SERVICE, config, tmp_path, NamedParts())
    port = free_port()
    there = Silver(status_url=f"http://127.0.0.1:{port}", token=made.endpoints.silver.token)
    endpoints = made.endpoints.model_copy(update={"silver": there})
    context = replace(made, project=project, endpoints=endpoints)
    silver_service.SERVICE.native_form.prepare(context)
    actions = {name: partial(asked.append, name) for name in ("suspend", "resume")}
    server = StatusServer("127.0.0.1", port, dict, {}, actions, SECRET["silver"])
    server.start()
    yield context
    server.stop()


def test_it_is_suspended_and_resumed(context: Context, asked: list[str]) -> None:
    suspension().suspend(context)
    suspension().resume(context)
    assert asked == ["suspend", "resume"]


@pytest.mark.parametrize(
    "file", ["spark-defaults.conf", "log4j2.properties", "silver.py", "lakehouse/clock.py"]
)
def test_it_is_not_suspended_once_a_file_of_its_start_has_changed(
    context: Context, asked: list[str], file: str
) -> None:
    with (context.project / "spark" / file).open("a", encoding="utf-8") as changed:
        changed.write("\n")
    with pytest.raises(OSError, match="was started by"):
        suspension().suspend(context)
    assert asked == []


@pytest.mark.parametrize("role", ["silver", "kafka", "objectstore"])
def test_it_is_not_suspended_once_a_password_is_another(
    context: Context, asked: list[str], role: str
) -> None:
    passwords = {**SECRET, role: "another"}
    endpoints = loopback_endpoints(context.config, PORTS, passwords)
    with pytest.raises(OSError, match="was started by"):
        suspension().suspend(replace(context, passwords=passwords, endpoints=endpoints))
    assert asked == []


def test_one_that_does_not_answer_is_not_suspended_and_need_not_be_resumed(
    context: Context,
) -> None:
    nobody = Silver(status_url=f"http://127.0.0.1:{free_port()}", token=None)
    endpoints = context.endpoints.model_copy(update={"silver": nobody})
    context = replace(context, endpoints=endpoints)
    with pytest.raises(OSError, match="Connection refused"):
        suspension().suspend(context)
    suspension().resume(context)
