"""Files that a lab does not run by, as far as its services tell."""

from __future__ import annotations

from typing import Any, cast

import pytest
import requests

from labctl.errors import ExitCode, LabError
from labctl.watching import differences as module
from labctl.watching.differences import drift
from labctl.watching.places import Places

NOWHERE = Places({}, frozenset())


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (LabError("Connect does not answer", exit_code=ExitCode.NOT_READY), []),
        (
            LabError("a.json:2: not JSON", exit_code=ExitCode.USAGE),
            ["a.json:2: not JSON: labctl connectors validate"],
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_told_and_a_service_that_is_silent_is_not(
    error: LabError, said: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_lab: object) -> Any:
        raise error

    def silent(_lab: object) -> Any:
        raise requests.ConnectionError

    monkeypatch.setattr(module, "_connectors", refuse)
    monkeypatch.setattr(module, "silver_status", silent)
    monkeypatch.setattr(module, "_schemas", lambda _lab: iter(["db/a.sql: labctl up"]))
    assert drift(cast("Any", None), NOWHERE) == [*said, "db/a.sql: labctl up"]
