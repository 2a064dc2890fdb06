"""Real files, saved in the ways of editors, until what they ask for is done."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.watching import watcher as module
from labctl.watching.planning import Kind, Step
from labctl.watching.watcher import Outcome, Watcher
from tests.unit.watching.conftest import (
    base_of,
    connector_of,
    edit,
    lab_of,
    properties_of,
    sink_of,
)

SECONDS = 30.0


class Doing:
    """What was done to the lab, and what was reported."""

    def __init__(self) -> None:
        self.done: list[tuple[Kind, str]] = []
        self.told: list[Outcome] = []
        self.fails: dict[Kind, LabError] = {}

    def carry_out(self, lab: Lab, step: Step) -> str:
        del lab
        if step.kind in self.fails:
            raise self.fails[step.kind]
        self.done.append((step.kind, step.what))
        return f"{step.kind} {step.what}"

    def wait(self, told: int) -> Outcome:
        """The last outcome, once there are so many."""
        deadline = time.monotonic() + SECONDS
        while len(self.told) < told:
            assert time.monotonic() < deadline, self.told
            time.sleep(0.01)
        return self.told[-1]

    def wait_for(self, kind: Kind, what: str) -> None:
        """Until this is done and reported."""
        deadline = time.monotonic() + SECONDS
        while f"{kind} {what}" not in {outcome.said for outcome in self.told}:
            assert time.monotonic() < deadline, self.told
            time.sleep(0.01)


@pytest.fixture
def doing(monkeypatch: pytest.MonkeyPatch) -> Doing:
    made = Doing()
    monkeypatch.setattr(module, "carry_out", made.carry_out)
    monkeypatch.setattr(module, "bronze_writer", lambda _: "spark")
    monkeypatch.setattr(Lab, "require_running", lambda self: self)
    return made


@pytest.fixture
def watcher(project: Path, doing: Doing) -> Watcher:
    return Watcher(lambda: lab_of(project), doing.told.append)


@pytest.fixture
def going(watcher: Watcher) -> Iterator[Watcher]:
    """One that goes round."""
    stop = threading.Event()
    thread = threading.Thread(target=watcher.run, args=(stop,))
    thread.start()
    yield watcher
    stop.set()
    thread.join(SECONDS)
    assert not thread.is_alive()


def in_place(path: Path, text: str) -> None:
    path.write_text(text)


def by_rename(path: Path, text: str) -> None:
    """As most editors and tools do."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text(text)
    beside.replace(path)


def with_a_backup(path: Path, text: str) -> None:
    """As vim does: the old file moved away, a new one written."""
    path.rename(path.with_name(f"{path.name}~"))
    path.write_text(text)


@pytest.mark.usefixtures("going")
@pytest.mark.parametrize("save", [in_place, by_rename, with_a_backup])
def test_a_saved_file_is_applied_once(
    project: Path, doing: Doing, save: Callable[[Path, str], None]
) -> None:
    path = connector_of(project)
    for number in (1, 2, 3):
        save(path, path.read_text().replace("{", f'{{"k{number}": "v",', 1))
        outcome = doing.wait(number)
        assert (outcome.files, outcome.error) == ((path,), None)
    assert doing.done == [(Kind.CONNECTOR, "source_connector_orders")] * 3


@pytest.mark.usefixtures("going")
def test_a_folder_that_appears_is_watched(project: Path, doing: Doing) -> None:
    """lab.toml names another folder of tables; what is saved there is seen."""
    text = properties_of(project, "invoice").read_text().replace("invoice", "line")
    (project / "more").mkdir()
    (project / "more" / "line.properties").write_text(
        text.replace("include=base", "include=../spark/properties/base")
    )
    lab_toml = project / "lab.toml"
    by_rename(
        lab_toml, lab_toml.read_text() + '\n[silver]\nproperties = ["spark/properties", "more"]\n'
    )
    doing.wait_for(Kind.START_TABLE, "orders.public.line")
    edit(project / "more" / "line.properties", "include", "lab.deletes=hard\ninclude")
    doing.wait_for(Kind.TABLE, "shop.line")
    assert doing.done[-1] == (Kind.TABLE, "shop.line")


@pytest.mark.usefixtures("going")
def test_a_folder_that_is_made_again_is_watched_on(project: Path, doing: Doing) -> None:
    """As by `git checkout`."""
    folder = project / "connectors"
    aside = folder.rename(project / "aside")
    folder.mkdir()
    for path in aside.iterdir():
        (folder / path.name).write_text(path.read_text())
    edit(connector_of(project), "{", '{"k": "1",')
    outcome = doing.wait(1)
    while outcome.error is not None:  # seen while the folder was empty
        outcome = doing.wait(len(doing.told) + 1)
    assert doing.done == [(Kind.CONNECTOR, "source_connector_orders")]


def test_what_is_not_a_change_does_nothing(project: Path, doing: Doing, watcher: Watcher) -> None:
    path = connector_of(project)
    os.utime(path)
    path.with_name(f"{path.name}~").touch()
    watcher.look()
    # A file that is gone for a moment only.
    text = path.read_text()
    path.unlink()
    watcher.look()
    path.write_text(text)
    watcher.look()
    assert (doing.done, doing.told) == ([], [])


@pytest.mark.parametrize(
    ("path_of", "old", "new", "place"),
    [
        (connector_of, "{", "{\n{", "line 2"),
        (lambda project: properties_of(project, "invoice"), "include", "oops\ninclude", ":1: "),
        (base_of, "\nhoodie.", "\nlab.delete=soft\nhoodie.", "base.properties:"),
        (lambda project: project / "lab.toml", "name =", "nmae =", "lab.toml:"),
        (lambda project: project / "lab.toml", "[sources", "[sources\n[sources", "at line"),
        (lambda project: project / "db" / "orders.sql", "CREATE", "SELECT 'open; CREATE", ".sql:"),
        (
            sink_of,
            '"topics.regex"',
            '"topics.regix"',
            "no sink takes the topic",
        ),
    ],
)
def test_a_broken_file_is_told_with_its_place_and_nothing_is_done(
    project: Path,
    doing: Doing,
    watcher: Watcher,
    path_of: Callable[[Path], Path],
    old: str,
    new: str,
    place: str,
) -> None:
    path = path_of(project)
    text = path.read_text()
    edit(path, old, new)
    watcher.look()
    (outcome,) = doing.told
    assert outcome.error is not None
    assert outcome.error.exit_code is ExitCode.USAGE
    assert place in outcome.said
    assert doing.done == []
    watcher.look()
    assert len(doing.told) == 1, "an error is told once"
    path.write_text(text)
    watcher.look()
    assert doing.told[-1].said == "as it was before"
    assert doing.done == []


@pytest.mark.parametrize(
    ("name", "text", "place"),
    [
        ("spark/silver.py", "def main(:\n", "silver.py:1: "),
        ("spark/spark-defaults.conf", "# ours\nspark.ui.enabled\n", "spark-defaults.conf:2: "),
        ("connectors/worker.properties", "key.converter\n", "worker.properties:1: "),
    ],
)
def test_code_and_settings_are_looked_at_before_a_service_is_stopped(
    project: Path, doing: Doing, watcher: Watcher, name: str, text: str, place: str
) -> None:
    (project / name).write_text(text)
    watcher.look()
    (outcome,) = doing.told
    assert outcome.error is not None
    assert place in outcome.said
    assert doing.done == []


def own_application(project: Path, *, contract: int) -> Path:
    """Give the project an application of its own; return the folder of its package."""
    (project / "spark" / "silver.py").write_text("from lakehouse.spark_process import main\n")
    package = project / "spark" / "lakehouse"
    package.mkdir()
    (package / "__init__.py").write_text(f"CONTRACT = {contract}\n")
    return package


def test_an_application_that_needs_another_contract_is_not_started(
    project: Path, doing: Doing, watcher: Watcher
) -> None:
    own_application(project, contract=7)
    watcher.look()
    (outcome,) = doing.told
    assert "needs version 7" in outcome.said
    assert doing.done == []


def test_an_application_that_cannot_be_imported_is_not_started(
    project: Path, doing: Doing, watcher: Watcher
) -> None:
    package = own_application(project, contract=1)
    (package / "spark_process.py").write_text("from lakehouse.nowhere import main\n")
    watcher.look()
    (outcome,) = doing.told
    assert "No module named 'lakehouse.nowhere'" in outcome.said
    assert outcome.error is not None
    assert any("spark_process.py" in line for line in outcome.error.details)
    assert doing.done == []


def test_a_broken_file_does_not_make_another_change_forgotten(
    project: Path, doing: Doing, watcher: Watcher
) -> None:
    path = connector_of(project)
    text = path.read_text()
    path.write_text("{")
    watcher.look()
    edit(properties_of(project, "invoice"), "include", "lab.deletes=hard\ninclude")
    watcher.look()
    assert doing.done == []
    path.write_text(text)
    watcher.look()
    assert doing.done == [(Kind.TABLE, "shop.invoice")]


def test_what_was_refused_is_tried_again_once_it_is_saved_otherwise(
    project: Path, doing: Doing, watcher: Watcher
) -> None:
    path = connector_of(project)
    text = path.read_text()
    doing.fails[Kind.CONNECTOR] = LabError("no such slot", exit_code=ExitCode.USAGE)
    edit(path, "{", '{"k": "1",')
    watcher.look()
    assert doing.told[-1].said == "no such slot"
    edit(properties_of(project, "invoice"), "include", "lab.deletes=hard\ninclude")
    watcher.look()
    assert doing.done == [(Kind.TABLE, "shop.invoice")], "the connector's file is as it was"
    path.write_text(text)
    watcher.look()
    assert doing.told[-1].said == "as it was before"


@pytest.mark.parametrize("kind", [Kind.CONNECTOR, Kind.TABLE])
def test_after_a_step_that_failed_on_its_way_the_old_file_is_applied_again(
    project: Path, doing: Doing, watcher: Watcher, kind: Kind
) -> None:
    path = connector_of(project) if kind is Kind.CONNECTOR else properties_of(project, "invoice")
    text = path.read_text()
    doing.fails[kind] = LabError("its task failed", exit_code=ExitCode.NOT_READY)
    old, new = ("{", '{"k": "1",') if kind is Kind.CONNECTOR else ("inc", "lab.deletes=hard\ninc")
    edit(path, old, new)
    watcher.look()
    assert doing.done == []
    doing.fails.clear()
    path.write_text(text)
    watcher.look()
    assert [done for done, _ in doing.done] == [kind]


def test_a_lab_that_another_command_changes_is_waited_for(
    project: Path, doing: Doing, watcher: Watcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_BUSY_SECONDS", 0.0)
    doing.fails[Kind.SCHEMA] = LabError("another command", exit_code=ExitCode.BUSY)
    edit(project / "db" / "orders.sql", "CREATE", "-- why\nCREATE")
    for _ in range(3):
        watcher.look()
    assert [outcome.said for outcome in doing.told] == ["another command"]
    doing.fails.clear()
    watcher.look()
    assert doing.done == [(Kind.SCHEMA, "orders")]
