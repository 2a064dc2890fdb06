"""A source that was put back to an earlier state is named until its tables are right again."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest

from labctl.errors import LabError
from labctl.lab.connectors import restored_sources as module
from labctl.lab.connectors.restored_sources import forget_restored, restored_sources
from labctl.lab.lab import Lab
from labctl.sources import ENGINES
from labctl.state.lab_state import LabState

NAME = "shop_connector"


@pytest.fixture
def lab(state_home: object) -> Lab:
    config = SimpleNamespace(sources={"shop": SimpleNamespace(connector=NAME)})
    endpoints = SimpleNamespace(connect=None)
    fields = {"config": config, "endpoints": endpoints, "state": LabState("own"), "promoted": None}
    fields["profile"] = "native"
    return cast(Lab, SimpleNamespace(**fields))


def test_it_is_named_also_when_the_log_has_passed_the_position(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = 500

    def log(*_: object) -> Any:
        return SimpleNamespace(is_ahead=lambda offset: offset["lsn"] > end)

    client = SimpleNamespace(offsets=lambda _name: [{"offset": {"lsn": 500}}])
    server = SimpleNamespace(engine="postgres")
    engine = replace(ENGINES["postgres"], change_log=log)
    monkeypatch.setattr(module, "ENGINES", {"postgres": engine})
    monkeypatch.setattr(module, "connect_client", lambda *_, **__: client)
    monkeypatch.setattr(module, "connect_server", lambda *_: nullcontext(server))
    monkeypatch.setattr(module, "source_file", lambda *_: SimpleNamespace(config={}))
    assert restored_sources(lab, [NAME]) == {}
    end = 400
    assert restored_sources(lab, []) == {}, "a connector that does not run has its own reason"
    assert "source shop was put back" in restored_sources(lab, [NAME])[NAME]
    end = 600
    said = restored_sources(lab, [NAME])[NAME]
    assert f"labctl connectors snapshot {NAME} --start-over" in said
    forget_restored(lab, NAME)
    assert restored_sources(lab, [NAME]) == {}


def test_a_source_that_does_not_answer_is_left_out(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_name: str) -> Any:
        raise LabError("Kafka Connect does not answer")

    client = SimpleNamespace(offsets=refuse)
    monkeypatch.setattr(module, "connect_client", lambda *_, **__: client)
    assert restored_sources(lab, [NAME]) == {}
