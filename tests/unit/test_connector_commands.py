"""`labctl connectors` against a Kafka Connect of which only the REST interface is there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from typer.testing import CliRunner

import labctl.cli.connectors as commands
from labctl.cli.app import root
from labctl.errors import ExitCode
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.lab.connectors import connector_states
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.runtimes.runtime_protocols import ProcessState
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.project import new_project, write_project
from labctl.sources import ENGINES
from labctl.state.lab_state import LabState
from lakecontract.references import REFERENCE
from tests.unit.service_context import PROJECT

Run = Callable[..., str]
CONNECTOR = "source_connector_moma_postgres_kafka"
FILE = PROJECT / "connectors" / f"{CONNECTOR}.json"


class Connect(ThreadingHTTPServer):
    """Takes every configuration, and says of every connector that it runs."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.configs: dict[str, dict[str, str]] = {}

    def answer(self, method: str, path: list[str], body: Any) -> Any:
        match method, path:
            case "GET", ["connector-plugins"]:
                return [{"class": engine.connector_class} for engine in ENGINES.values()]
            case "PUT", ["connector-plugins", _, "config", "validate"]:
                return {"configs": []}
            case "GET", ["connectors"]:
                return list(self.configs)
            case "GET", ["connectors", name, "config"]:
                return self.configs[name]
            case "PUT", ["connectors", name, "config"]:
                self.configs[name] = {**body, "name": name}
                return {}
            case "GET", ["connectors", _, "status"]:
                return {"connector": {"state": "RUNNING"}, "tasks": [{"state": "RUNNING"}]}
        raise AssertionError(f"{method} {path} was not expected")


class Handler(BaseHTTPRequestHandler):
    server: Connect

    def do_GET(self) -> None:
        self._answer()

    def do_PUT(self) -> None:
        self._answer()

    def _answer(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(size)) if size else None
        said = self.server.answer(self.command, self.path.strip("/").split("/"), body)
        content = json.dumps(said).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Iterator[Connect]:
    with Connect() as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        client = ConnectClient(f"http://127.0.0.1:{server.server_port}")
        for module in (commands, connector_states):
            monkeypatch.setattr(module, "connect_client", lambda *_, **__: client)
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def run(state_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line in a folder that is not the project's, of a lab that runs."""
    state = LabState("moma")
    state.create()
    state.save(name="moma", profile="native", project=str(PROJECT))
    running = {"connect": ProcessState("RUNNING", 1, 0.0)}
    monkeypatch.setattr(NativeRuntime, "states", lambda _: running)
    monkeypatch.setattr(connector_states, "bronze_writer", lambda _lab: "spark")
    monkeypatch.setattr(connector_states, "set_up_capture", lambda *_: {})  # there is no database
    monkeypatch.setenv("LABCTL_PROJECT", str(PROJECT))
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str, code: ExitCode = ExitCode.OK) -> str:
        done = CliRunner().invoke(root, ["connectors", *arguments, "--lab", "moma"])
        assert done.exit_code == code, done.output
        return done.output

    return run


def test_a_file_from_another_folder_is_applied_and_differs_from_the_projects(
    run: Run, connect: Connect, tmp_path: Path
) -> None:
    def listed() -> dict[str, Any]:
        (row,) = json.loads(run("list", "-o", "json"))["connectors"]
        return dict(row)

    expected = {"name": CONNECTOR, "file": True, "applied": False, "differs": False}
    assert listed() == expected

    config = json.loads(FILE.read_text("utf-8"))
    mine = tmp_path / "mine" / FILE.name
    mine.parent.mkdir()
    mine.write_text(json.dumps(config | {"poll.interval.ms": "70"}))
    run("apply", f"mine/{FILE.name}")
    assert connect.configs == {CONNECTOR: {**config, "poll.interval.ms": "70", "name": CONNECTOR}}
    assert listed() == expected | {"applied": True, "differs": True}
    assert "another configuration" in run("list")
    assert json.loads(run("diff", "-o", "json")) == {
        CONNECTOR: {"poll.interval.ms": {"applied": "70", "file": "50"}}
    }

    run("apply")
    assert connect.configs == {CONNECTOR: {**config, "name": CONNECTOR}}
    assert listed() == expected | {"applied": True}


def test_a_file_that_is_not_there_changes_nothing(run: Run, connect: Connect) -> None:
    run("apply", f"mine/{FILE.name}", code=ExitCode.USAGE)
    run("apply", "source_connector_other", code=ExitCode.USAGE)
    assert connect.configs == {}


def test_secrets_are_listed_by_key_without_a_value(run: Run) -> None:
    offered = json.loads(run("secrets", "-o", "json"))
    assert set(offered["demo/moma"]) == {"hostname", "port", "username", "password", "database"}
    assert not [secret for secret in offered if "mysql" in secret], "the lab has no MySQL"
    lines = run("secrets").splitlines()
    for reference in (
        "${secretManager:demo/moma:password}",
        "${secretManager:demo/objectstore:secret.key}",
    ):
        assert reference in lines
    assert all(REFERENCE.fullmatch(line) for line in lines), "references alone"


def test_a_table_that_no_connector_or_no_sink_takes_is_not_valid(
    run: Run, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del connect
    folder = tmp_path / "shop"
    write_project(folder, new_project("shop", [example_source("orders", "postgres")]))
    monkeypatch.setenv("LABCTL_PROJECT", str(folder))
    assert "source_connector_orders: valid" in run("validate")
    path = folder / "connectors" / "source_connector_orders.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(config | {"table.include.list": "public.other"}))
    said = " ".join(run("validate", code=ExitCode.USAGE).split())
    assert "table.include.list leaves out public.customer" in said
    assert "orders.public.customer.properties:" in said
    path.write_text(json.dumps(config))
    (sink,) = (folder / "connectors").glob("sink_*.json")
    sink.unlink()
    assert "no sink takes the topic" in " ".join(run("validate", code=ExitCode.USAGE).split())


def test_a_sink_file_that_silver_could_not_read_by_is_not_valid(
    run: Run, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del connect
    folder = tmp_path / "shop"
    write_project(folder, new_project("shop", [example_source("orders", "postgres")]))
    monkeypatch.setenv("LABCTL_PROJECT", str(folder))
    (sink,) = (folder / "connectors").glob("sink_*.json")
    config = json.loads(sink.read_text())
    for wrong, what in (
        ({"format.class": "io.confluent.connect.s3.format.json.JsonFormat"}, "format.class"),
        ({"topics.dir": "elsewhere"}, "elsewhere"),
    ):
        sink.write_text(json.dumps(config | wrong, indent=2))
        said = " ".join(run("validate", code=ExitCode.USAGE).split())
        assert sink.name in said or "properties:" in said
        assert what in said
    sink.write_text(json.dumps(config, indent=2))
    assert "source_connector_orders: valid" in run("validate")
