"""Files saved under `labctl watch`, on the running lab."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labctl.errors import LabError
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import apply_and_wait
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lab.tables.table_requests import restart_table
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from labctl.watching.watcher import Outcome, Watcher
from tests.e2e.conftest import Labctl
from tests.e2e.fault_trial import Verify
from tests.e2e.second_source import ORDERS, SOURCE
from tests.e2e.second_source import SILVER as TABLES

pytestmark = pytest.mark.long

KEY, VALUE = "max.batch.size", "1024"
TABLE = next(iter(TABLES))


class Watched:
    """A watcher at work, and what it has told."""

    def __init__(self, lab: Lab) -> None:
        self.told: list[Outcome] = []
        self._stop = threading.Event()
        watcher = Watcher(lambda: fresh(lab), self.told.append)
        self._thread = threading.Thread(target=watcher.run, args=(self._stop,))

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def next(self, eventually: Eventually) -> Outcome:
        """What is told next."""
        eventually(lambda: self.told)
        return self.told.pop(0)


def fresh(lab: Lab) -> Lab:
    return Lab.find(name=lab.name, project=lab.project)


@pytest.fixture
def watched(lab: Lab) -> Iterator[Watched]:
    with Watched(lab) as watching:
        yield watching


@pytest.fixture
def kept(lab: Lab) -> Iterator[None]:
    """Files and lab are as they were, whatever a test has done."""
    files = [
        source_file(lab, SOURCE).path,
        *(lab.table(name).properties.file for name in TABLES),
    ]
    before = {path: path.read_text() for path in files}
    yield
    for path, text in before.items():
        path.write_text(text)
    apply_and_wait(fresh(lab), [source_file(lab, SOURCE)])
    for name in TABLES:
        restart_table(fresh(lab), name)


def held(client: ConnectClient, name: str) -> dict[str, str]:
    return client.config(name) or {}


@pytest.mark.usefixtures("kept")
def test_a_connectors_file_is_applied_as_it_is_saved(
    lab: Lab, watched: Watched, eventually: Eventually, capsys: pytest.CaptureFixture[str]
) -> None:
    file, client = source_file(lab, SOURCE), connect_client(lab.endpoints.connect)
    text = file.path.read_text()
    saved = time.monotonic()
    file.path.write_text(text.replace("{", f'{{"{KEY}": "{VALUE}",', 1))
    eventually(lambda: held(client, file.name).get(KEY) == VALUE)
    with capsys.disabled():
        print(f" [the new setting runs {time.monotonic() - saved:.1f} s after the file was saved]")
    outcome = watched.next(eventually)
    assert (outcome.error, outcome.said) == (None, f"{file.name} updated")
    assert outcome.files == (file.path,)

    file.path.write_text(text.replace("{", f'{{\n"{KEY}x": "{VALUE}",', 1))
    outcome = watched.next(eventually)
    assert isinstance(outcome.error, LabError)
    assert f"{file.path.name}:2: {KEY}x: unknown key" in outcome.said
    assert held(client, file.name)[KEY] == VALUE
    assert client.status(file.name)["connector"]["state"] == "RUNNING"

    file.path.write_text(text)
    assert watched.next(eventually).said == f"{file.name} updated"
    assert KEY not in held(client, file.name)


@pytest.mark.usefixtures("kept")
def test_a_table_begins_again_by_its_new_properties_alone(
    lab: Lab,
    watched: Watched,
    source: Callable[[str], Source],
    silver: SilverReader,
    new_key: Callable[[], int],
    eventually: Eventually,
    verify_equal: Verify,
) -> None:
    properties: Path = lab.table(TABLE).properties.file
    text, key = properties.read_text(), new_key()
    began = silver_status(lab)["started_at"]
    source(SOURCE).execute(f"INSERT INTO {ORDERS} VALUES ({key}, 'kept')")
    eventually(lambda: silver(TABLE, f"id = {key}"))

    before = silver_status(lab)["tables"][TABLE]["configuration"]
    properties.write_text(f"{text}lab.on.bad.record=deadletter\n")
    outcome = watched.next(eventually)
    assert (outcome.error, outcome.said) == (None, f"{TABLE} runs by it")
    running = silver_status(lab)["tables"][TABLE]["configuration"]
    assert running == fresh(lab).table(TABLE).properties.digest != before
    source(SOURCE).execute(f"DELETE FROM {ORDERS} WHERE id = {key}")
    eventually(lambda: not silver(TABLE, f"id = {key}"))

    properties.write_text(f"{text}hoodie.bucket.index.num.buckets=3\n")
    outcome = watched.next(eventually)
    assert isinstance(outcome.error, LabError)
    assert "hoodie.bucket.index.num.buckets" in outcome.said
    table = silver_status(lab)["tables"][TABLE]
    assert (table["state"], table["error"]) == ("running", None)

    properties.write_text(text)
    assert watched.next(eventually).said == f"{TABLE} runs by it"
    verify_equal(*TABLES)
    assert silver_status(lab)["started_at"] == began, "the application itself went on"


@pytest.mark.usefixtures("kept")
def test_up_has_a_table_run_by_its_changed_properties(lab: Lab, labctl: Labctl) -> None:
    """Files that were changed while nothing watched them."""

    def differs() -> list[str]:
        status = json.loads(labctl("status", "--lab", lab.name, "--output", "json").stdout)
        return [str(sentence) for sentence in status["differs"]]

    assert differs() == []
    began = silver_status(lab)["started_at"]
    properties: Path = lab.table(TABLE).properties.file
    properties.write_text(f"{properties.read_text()}lab.on.bad.record=deadletter\n")
    file = properties.relative_to(lab.project)
    assert differs() == [f"{file}: {TABLE} runs by other properties: labctl up"]
    done = labctl("up", "--lab", lab.name)
    assert done.returncode == 0, done.stderr
    assert f"{TABLE}: runs by its changed properties" in done.stdout
    assert differs() == []
    assert silver_status(lab)["started_at"] == began, "the application itself went on"
    again = labctl("up", "--lab", lab.name)
    assert "nothing had to be started" in again.stdout
