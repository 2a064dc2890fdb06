"""What `labctl doctor` says of the machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from labctl.artifacts import ArtifactStore
from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.lab.observe import doctor
from labctl.lab.observe.doctor import diagnose
from labctl.runtimes.native.native_checks import check_parts
from labctl.runtimes.runtime_protocols import Check, Level
from labctl.services.lab_services import SERVICES
from labctl.sources.log_slots import Slot
from tests.unit.service_context import PROJECT


def test_up_is_said_to_fetch_what_it_fetches_and_nothing_else(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, system_tools=False)
    (check,) = check_parts(store, SERVICES)
    assert check.level is Level.WARN
    assert "kafka" in check.detail
    assert "msk-iam-auth" in store.lock.artifacts, "a part that `promote` alone wants"
    assert "msk-iam-auth" not in check.detail


KEPT = 3000 * 1024**2
SLOT = Slot("s", "source_x", active=False, retained_bytes=KEPT, left_bytes=KEPT, lost=False)


def log_kept(monkeypatch: pytest.MonkeyPatch, *slots: Slot, running: bool = True) -> list[Check]:
    """What is said of the log, in a lab that is sound otherwise."""
    monkeypatch.setattr(doctor, "read_slots", lambda _lab: list(slots))
    runtime = SimpleNamespace(checks=list, parts=list)
    lab = SimpleNamespace(name="x", running=running, runtime=runtime, ports={}, services=[])
    return [check for check in diagnose(cast("Lab", lab)) if check.name == "log kept"]


def test_the_log_kept_for_connectors_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    (check,) = log_kept(monkeypatch, SLOT, replace(SLOT, name="t"))
    assert check.level is Level.OK
    assert "6000 MiB" in check.detail
    assert log_kept(monkeypatch, SLOT, running=False) == []


def test_a_slot_in_danger_is_warned_of_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    scarce = replace(SLOT, left_bytes=1000 * 1024**2)
    nobodys = replace(SLOT, name="old", connector=None, drop_command="drop it")
    found = log_kept(monkeypatch, SLOT, scarce, nobodys)
    assert [check.level for check in found] == [Level.WARN, Level.WARN]
    assert "given up after 1000 MiB more" in found[0].detail
    assert "labctl connectors restart source_x" in str(found[0].hint)
    assert str(found[1].hint).endswith("drop it")


def test_a_server_that_does_not_answer_is_not_said_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_lab: Lab) -> list[Slot]:
        raise LabError("no answer")

    assert log_kept(monkeypatch) != []
    monkeypatch.setattr(doctor, "read_slots", refuse)
    runtime = SimpleNamespace(checks=list, parts=list)
    lab = SimpleNamespace(name="x", running=True, runtime=runtime, ports={}, services=[])
    assert diagnose(cast("Lab", lab)) == []


def test_a_lab_of_postgres_alone_is_asked_less(
    state_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def asked(name: str) -> tuple[float, set[str]]:
        """GiB of memory, and the parts to fetch."""
        lab = Lab.find(name=name, project=PROJECT)
        found = {check.name: check.detail for check in diagnose(lab)}
        memory = found["memory"].partition("available, ")[2].partition(" GiB needed")[0]
        return float(memory), set(found["parts"].partition(": ")[2].split(", "))

    whole_memory, whole_parts = asked("tickit")
    memory, parts = asked("moma")
    assert memory < whole_memory
    assert parts < whole_parts
    assert "mysql" in whole_parts - parts
