"""What cannot work is refused: one clear message, a documented exit code, nothing half done."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest

from labctl.errors import ExitCode
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import down
from labctl.runtimes.native.supervisor import LAB_MARK
from labctl.testing.eventually import Eventually

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
POSTGRES = "source_connector_postgres_kafka_avro_tickit"
MYSQL = "source_connector_mysql_kafka_avro_tickit"
INTERRUPT_SECONDS = 240


def refused(done: subprocess.CompletedProcess[str], exit_code: ExitCode, *words: str) -> None:
    """The command ended with `exit_code` and one message in which all `words` are."""
    assert done.returncode == exit_code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.count("error:") == 1
    for word in words:
        assert word in done.stderr


@pytest.fixture
def project(lab_project: Path, tmp_path: Path) -> Path:
    """A copy of the project, for a test to spoil."""
    folder = tmp_path / "project"
    shutil.copytree(lab_project, folder)
    return folder


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Another folder for the state of labs, that of commands started too."""
    with TemporaryDirectory(prefix="labctl-") as folder:
        monkeypatch.setenv("XDG_STATE_HOME", folder)
        yield Path(folder, "labctl")
        # What was not refused, though it should have been, still runs.
        left = processes_in(Path(folder))
        for process in left:
            process.kill()
        psutil.wait_procs(left, timeout=INTERRUPT_SECONDS)


def processes_in(state: Path) -> list[psutil.Process]:
    """Processes of any lab whose state is below `state`."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(LAB_MARK, "").startswith(str(state)):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def edit(project: Path, connector: str, **changes: str | None) -> None:
    """Change keys of a connector file (`_` stands for `.`); None removes one."""
    path = project / "connectors" / f"{connector}.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    for name, value in changes.items():
        key = name.replace("_", ".")
        if value is None:
            del config[key]
        else:
            config[key] = value
    path.write_text(json.dumps(config), encoding="utf-8")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param(
            {"connector_class": "io.debezium.connector.postgresql.NoSuchConnector"},
            ["connector.class", "NoSuchConnector"],
            id="class",
        ),
        pytest.param({"topic_prefix": None}, ["topic.prefix"], id="missing"),
        pytest.param({"database_port": "many"}, ["database.port"], id="value"),
        pytest.param({"slot_nmae": "x"}, ["slot.nmae", "slot.name"], id="key"),
        pytest.param({"connector_class": None}, ["connector.class is missing"], id="no-class"),
    ],
)
def test_a_connector_that_connect_refuses(
    changes: dict[str, str | None], words: list[str], project: Path, lab: Lab, labctl: Labctl
) -> None:
    client = connect_client(lab.endpoints.connect)
    before = {name: client.config(name) for name in client.names()}
    edit(project, POSTGRES, **changes)
    edit(project, MYSQL, poll_interval_ms="50")
    done = labctl("connectors", "apply", "--lab", lab.name, project=project)
    refused(done, ExitCode.USAGE, f"{POSTGRES}.json", *words)
    assert {name: client.config(name) for name in client.names()} == before


def test_a_connector_file_that_is_no_json(project: Path, lab: Lab, labctl: Labctl) -> None:
    (project / "connectors" / f"{MYSQL}.json").write_text('{"connector.class": \n', "utf-8")
    done = labctl("connectors", "validate", "--lab", lab.name, project=project)
    refused(done, ExitCode.USAGE, f"{MYSQL}.json", "line 2")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        pytest.param(["SELEC * FROM sale"], ["SELEC"], id="syntax"),
        pytest.param(["SELECT * FROM sales"], ["sales", "sale"], id="table"),
        pytest.param(["SELECT price FROM sale"], ["price"], id="column"),
        pytest.param(["SELECT 1", "--as-of", "yesterday-ish"], ["yesterday-ish"], id="instant"),
        pytest.param(
            ["SELECT 1", "--from", "2024-01-02", "--to", "2024-01-01"], ["--from"], id="backwards"
        ),
        pytest.param(["DELETE FROM sale"], ["SELECT"], id="delete"),
    ],
)
def test_a_query_that_cannot_be_answered(
    arguments: list[str], words: list[str], lab: Lab, labctl: Labctl
) -> None:
    done = labctl("query", *arguments, "--lab", lab.name)
    refused(done, ExitCode.USAGE, *words)


def test_an_error_can_be_had_as_json(lab: Lab, labctl: Labctl) -> None:
    done = labctl("query", "SELECT * FROM sales", "--lab", lab.name, "--output", "json")
    assert done.returncode == ExitCode.USAGE
    error = json.loads(done.stderr)["error"]
    assert error["exit_code"] == ExitCode.USAGE
    assert "sales" in error["message"]


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments", [["status"], ["down"], ["destroy", "--yes"], ["query", "SELECT 1"], ["verify"]]
)
def test_a_lab_that_does_not_exist(arguments: list[str], elsewhere: Path, labctl: Labctl) -> None:
    refused(labctl(*arguments, "--lab", "nowhere"), ExitCode.USAGE, "nowhere")
    assert not (elsewhere / "nowhere").exists()


@pytest.mark.long
def test_a_name_that_cannot_name_a_lab(elsewhere: Path, labctl: Labctl) -> None:
    refused(labctl("up", "--lab", "../up"), ExitCode.USAGE, "../up")
    assert not elsewhere.exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('source = "kafka"', 'sorce = "kafka"', ["silver.sorce", "source"]),
        ('source = "kafka"', 'source = "paper"', ["silver.source", "paper"]),
        ('name = "tickit"', 'name = "tickit', ["TOML"]),
    ],
)
def test_a_lab_toml_that_is_wrong(
    old: str, new: str, words: list[str], project: Path, elsewhere: Path, labctl: Labctl
) -> None:
    path = project / "lab.toml"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    refused(labctl("up", "objectstore", project=project), ExitCode.USAGE, "lab.toml", *words)
    assert not elsewhere.exists()


def test_a_table_s_properties_that_are_wrong(
    project: Path, elsewhere: Path, labctl: Labctl
) -> None:
    path = project / "spark" / "properties" / "tickit.ecomm.sale.properties"
    with path.open("a", encoding="utf-8") as file:
        file.write("lab.deletes=maybe\n")
    done = labctl("up", project=project)
    refused(done, ExitCode.USAGE, "tickit.ecomm.sale.properties", "lab.deletes")
    assert processes_in(elsewhere) == []


@pytest.mark.long
def test_a_port_that_is_taken(project: Path, elsewhere: Path, labctl: Labctl) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with (project / "lab.toml").open("a", encoding="utf-8") as file:
            file.write(f"\n[services.objectstore]\nports = {{ s3 = {port} }}\n")
        done = labctl("up", "objectstore", "--lab", "second", project=project)
        refused(done, ExitCode.ENVIRONMENT, str(port), "objectstore", str(os.getpid()))
    assert processes_in(elsewhere) == []


def test_a_lab_that_another_command_is_changing(lab: Lab, labctl: Labctl) -> None:
    with lab.state.changing():
        for arguments in (["up"], ["down"], ["destroy", "--yes"]):
            refused(
                labctl(*arguments, "--lab", lab.name), ExitCode.BUSY, lab.name, str(os.getpid())
            )
    assert lab.running


@pytest.mark.long
def test_ctrl_c_while_the_lab_comes_up(
    lab_project: Path, elsewhere: Path, eventually: Eventually
) -> None:
    command = subprocess.Popen(
        [sys.executable, "-m", "labctl", "up", "kafka", "mysql", "--lab", "second"],
        cwd=lab_project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    second = Lab.find(name="second", project=lab_project)
    try:
        eventually(lambda: any(state.pid for state in second.runtime.states().values()))
    finally:
        command.send_signal(signal.SIGINT)
        output, errors = command.communicate(timeout=INTERRUPT_SECONDS)
    assert command.returncode == ExitCode.INTERRUPTED, errors
    assert output == ""
    assert "interrupted" in errors
    assert "Traceback" not in errors
    # What was usable by then stays, and nothing else. Its ports and password are the command's.
    second = Lab.find(name="second", project=lab_project)
    left = second.runtime.states()
    for name in left:
        if left[name].running:
            second.service(name).probe(second.context(second.service(name)))
    assert bool(processes_in(elsewhere)) == any(state.running for state in left.values())
    down(second)
    assert processes_in(elsewhere) == []


@pytest.mark.long
@pytest.mark.parametrize("arguments", [["query", "SELECT 1"], ["verify"], ["connectors", "list"]])
def test_a_lab_that_is_not_running(
    arguments: list[str], lab_project: Path, elsewhere: Path, labctl: Labctl
) -> None:
    second = Lab.find(name="second", project=lab_project)
    second.state.create()
    second.state.save(ports=second.ports)
    refused(labctl(*arguments, "--lab", "second"), ExitCode.NOT_READY, "labctl --lab second up")
