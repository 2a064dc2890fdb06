"""`labctl status` says the same of a lab, whichever runtime it is on."""

from __future__ import annotations

import json
from dataclasses import fields

from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import (
    BronzeStatus,
    ConnectorStatus,
    PipelineStatus,
    SilverTableStatus,
)
from labctl.lab.observe.service_status import LabStatus, ServiceStatus
from tests.e2e.conftest import Labctl

# What every runtime knows of a service that runs; whether it has died depends on the tests before.
SERVICE_TYPES = {
    "name": str,
    "title": str,
    "state": str,
    "detail": str,
    "pid": int,
    "started_at": float,
    "memory_bytes": int,
    "restarts": int,
    "urls": dict,
}


def names(*models: type) -> set[str]:
    return {field.name for model in models for field in fields(model)}


def test_status_has_one_shape(labctl: Labctl, lab: Lab) -> None:
    done = labctl("status", "--lab", lab.name, "--output", "json")
    assert done.returncode == 0, done.stderr
    status = json.loads(done.stdout)
    assert set(status) == {*names(LabStatus, PipelineStatus), "differs", "problems"}
    assert (status["lab"], status["profile"]) == (lab.name, lab.profile)
    assert (status["running"], status["ready"], status["problems"]) == (True, True, [])
    assert status["differs"] == []
    assert (status["bronze"]["writer"], status["bronze"]["state"]) == ("spark", "running")
    assert set(status["bronze"]) == names(BronzeStatus)
    assert [service["name"] for service in status["services"]] == [s.name for s in lab.services]
    for service in status["services"]:
        assert set(service) == names(ServiceStatus)
        for key, kind in SERVICE_TYPES.items():
            assert isinstance(service[key], kind), (service["name"], key, service[key])
        assert service["memory_bytes"] > 0
    for connector in status["connectors"]:
        assert set(connector) == names(ConnectorStatus)
    for table in status["tables"]:
        assert set(table) == names(SilverTableStatus)
        assert isinstance(table["records_behind"], int)


def test_logs_have_one_shape(labctl: Labctl, lab: Lab) -> None:
    done = labctl("logs", "connect", "--lines", "5", "--lab", lab.name, "--output", "json")
    assert done.returncode == 0, done.stderr
    logs = json.loads(done.stdout)
    assert set(logs) == {"service", "file", "lines"}
    assert len(logs["lines"]) == 5


def test_the_doctor_finds_nothing_wrong(labctl: Labctl, lab: Lab) -> None:
    done = labctl("doctor", "--lab", lab.name, "--output", "json")
    assert done.returncode == 0, done.stdout
    checks = json.loads(done.stdout)["checks"]
    assert all(set(check) == {"name", "level", "detail", "hint"} for check in checks)
    assert {service.name for service in lab.services} <= {check["name"] for check in checks}
