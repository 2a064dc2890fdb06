"""A snapshot that was taken in the middle of a write load: the lab goes back to it as a whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
import requests

from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import up
from labctl.lab.snapshots import delete_snapshot, find_snapshot, restore_snapshot, save_snapshot
from labctl.runtimes.native.families import family_of
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.sources import connect
from tests.e2e.fault_trial import Trial
from tests.e2e.numbered_load import TARGETS

NAME = "of-a-test"
LATER = "registered-later"


def test_a_lab_goes_back_to_a_snapshot_and_on_from_there(trial: Trial) -> None:
    if not isinstance(trial.lab.runtime, NativeRuntime):
        pytest.skip("a lab in containers has no snapshots")
    runtime = trial.lab.runtime
    kept = {name: runtime.state(name).pid for name in ("registry", "silver")}
    trial.begin()
    before = trial.last_numbers()
    for _ in range(2):  # the second shares files with the first
        save_snapshot(trial.lab, NAME, replace=True)
    try:
        artifacts = f"{trial.lab.endpoints.registry.url}/apis/registry/v2/groups/default/artifacts"
        later = {"X-Registry-ArtifactId": LATER, "X-Registry-ArtifactType": "AVRO"}
        requests.post(artifacts, headers=later, data='"string"', timeout=30).raise_for_status()
        assert requests.get(f"{artifacts}/{LATER}", timeout=30).ok
        trial.go_on()
        after = trial.last_numbers()
        trial.end()
        restore_snapshot(trial.lab, find_snapshot(NAME))
    finally:
        delete_snapshot(NAME)
    assert shared_files(trial.lab.state.folder / "data") == []
    up(trial.lab, SilentReporter())
    # They have let go of the data that were there, without being started again.
    assert {name: runtime.state(name).pid for name in kept} == kept
    assert requests.get(f"{artifacts}/{LATER}", timeout=30).status_code == 404
    trial.wait_for_connectors()
    trial.verify_equal()
    for target in TARGETS:
        assert trial.arrived(target, before[target])
        assert not trial.arrived(target, after[target])
        with connect(trial.lab.endpoints, target.engine) as source:
            source.execute(target.insert.format(n=after[target]))
    for target in TARGETS:
        trial.eventually(
            partial(trial.arrived, target, after[target]),
            row=(target.silver, {target.key: after[target]}),
        )
    trial.verify_equal(*(target.silver for target in TARGETS))
    # One for each stream, and one of the application's own; none is left of before.
    streams = len(trial.lab.tables) + len(trial.lab.sinks)
    assert kafka_clients(kept["silver"]) <= streams + 1


def kafka_clients(pid: int | None) -> int:
    """Of a Spark application, those that ask for offsets: by the thread that each has."""
    assert pid is not None
    tasks = (Path(f"/proc/{one.pid}/task") for one in family_of(pid))
    names = (file.read_text() for folder in tasks for file in folder.glob("*/comm"))
    return sum(name.startswith("kafka-admin") for name in names)


def shared_files(folder: Path) -> list[Path]:
    """Files that have another name, too: a service that changes one would change both."""
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return [path for path in files if path.stat().st_nlink > 1]
