"""What `labctl doctor` says of the machine."""

from __future__ import annotations

from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.runtimes.model import Level
from labctl.runtimes.native.checks import check_parts
from labctl.services import SERVICES


def test_up_is_said_to_fetch_what_it_fetches_and_nothing_else(tmp_path: Path) -> None:
    store = ArtifactStore(tmp_path, system_tools=False)
    (check,) = check_parts(store, SERVICES)
    assert check.level is Level.WARN
    assert "kafka" in check.detail
    assert "msk-iam-auth" in store.lock.artifacts, "a part that `promote` alone wants"
    assert "msk-iam-auth" not in check.detail
