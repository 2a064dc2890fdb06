"""Having a table restart by its properties, and waiting until it has."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
import requests

from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.tables import table_requests as module
from labctl.lab.tables.table_requests import restart_table

NEW = "new"


class Application:
    """Answers with one state after the other, and stays at the last."""

    def __init__(self, *states: Mapping[str, Any], status: int = 202, body: Any = None) -> None:
        self.states = list(states)
        self.asked: list[str] = []
        self._status, self._body = status, body

    def post(self, url: str, **_: object) -> Any:
        self.asked.append(url)
        response = requests.Response()
        response.status_code = self._status
        response.json = lambda **_: self._body  # type: ignore[method-assign]
        return response

    def status(self, _: Lab) -> dict[str, Any]:
        state = self.states.pop(0) if len(self.states) > 1 else self.states[0]
        return {"tables": {"shop.sale": {"waiting_for": None, "error": None, **state}}}


@pytest.fixture
def lab() -> Lab:
    table = SimpleNamespace(name="shop.sale", properties=SimpleNamespace(digest=NEW))
    silver = SimpleNamespace(status_url="http://silver", headers={})
    made = SimpleNamespace(table=lambda _: table, endpoints=SimpleNamespace(silver=silver))
    return cast("Lab", made)


def use(monkeypatch: pytest.MonkeyPatch, application: Application) -> Application:
    monkeypatch.setattr(requests, "post", application.post)
    monkeypatch.setattr(module, "silver_status", application.status)
    monkeypatch.setattr(module, "_POLL_SECONDS", 0.0)
    return application


def test_it_is_over_when_the_table_runs_by_the_new_properties(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    application = use(
        monkeypatch,
        Application(
            {"configuration": "old", "state": "running"},
            {"configuration": NEW, "state": "starting"},
            {"configuration": NEW, "state": "running"},
        ),
    )
    restart_table(lab, "sale")
    assert application.asked == ["http://silver/tables/shop.sale/restart"]
    assert len(application.states) == 1


def test_a_table_without_a_topic_yet_has_begun(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    waiting = {"configuration": NEW, "state": "starting", "waiting_for": "a topic"}
    use(monkeypatch, Application(waiting))
    restart_table(lab, "sale")


def test_what_the_application_refuses_changes_nothing(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"error": "x.properties:3: buckets=7", "hint": "Put 1 back"}
    use(monkeypatch, Application({"state": "running"}, status=409, body=body))
    with pytest.raises(LabError, match=r"goes on as before: x\.properties:3: buckets=7") as caught:
        restart_table(lab, "sale")
    assert caught.value.exit_code is ExitCode.USAGE


def test_a_table_that_stops_instead_says_why(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = {"configuration": NEW, "state": "failed", "error": "no such column"}
    use(monkeypatch, Application({"configuration": "old", "state": "running"}, failed))
    with pytest.raises(LabError, match=r"shop\.sale is failed: no such column") as caught:
        restart_table(lab, "sale")
    assert caught.value.exit_code is not ExitCode.USAGE
