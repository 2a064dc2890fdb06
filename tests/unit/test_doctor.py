"""What `labctl doctor` says of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.artifacts import ArtifactStore
from labctl.lab.doctor import diagnose
from labctl.lab.lab import Lab
from labctl.runtimes.model import Level
from labctl.runtimes.native.checks import check_parts
from labctl.services import SERVICES
from tests.unit.service_context import PROJECT


def test_up_is_said_to_fetch_what_it_fetches_and_nothing_else(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, system_tools=False)
    (check,) = check_parts(store, SERVICES)
    assert check.level is Level.WARN
    assert "kafka" in check.detail
    assert "msk-iam-auth" in store.lock.artifacts, "a part that `promote` alone wants"
    assert "msk-iam-auth" not in check.detail


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
