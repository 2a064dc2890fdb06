"""`verify` knows how far capture has come, and so what is different and what is only late."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.lab.tables.verification import source_capture, verify_lab
from labctl.sources import Source, TableRef, connect_server
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Faults
from labctl.verify import State
from tests.e2e.conftest import Labctl
from tests.e2e.fault_trial import RECOVERY_SECONDS
from tests.e2e.paused_connectors import connector_pauses

OPEN_SECONDS = 60.0


@pytest.mark.parametrize("engine", ["postgres", "mysql", "sqlserver"])
def test_capture_passes_the_end_of_every_log(engine: str, lab: Lab, eventually: Eventually) -> None:
    table = next(table for table in lab.tables if table.engine == engine)
    with connect_server(lab.endpoints, engine) as server:
        capture = source_capture(lab, table.engine, lambda: server)
        end = capture.end(TableRef(table.db_schema, table.source_name))
        eventually(lambda: capture.state(end).waiting_for is None, seconds=RECOVERY_SECONDS)


def test_a_change_that_no_log_has_is_different(lab: Lab) -> None:
    with connect_server(lab.endpoints, "mysql") as mysql:
        mysql.execute("SET SESSION sql_log_bin = 0")
        mysql.execute("UPDATE ecomm.sale SET qtysold = qtysold + 1 WHERE salesid = 7")
        try:
            report = verify_lab(lab, ["sale"], timeout=OPEN_SECONDS)
        finally:
            mysql.execute("UPDATE ecomm.sale SET qtysold = qtysold - 1 WHERE salesid = 7")
    (verdict,) = report.tables
    assert verdict.state is State.DIFFERENT, verdict
    assert verdict.diff is not None
    assert [change.key for change in verdict.diff.changes] == [{"salesid": 7}]


@pytest.mark.long
def test_what_a_paused_connector_keeps_back_is_in_flight(
    lab: Lab, labctl: Labctl, source: Callable[[str], Source], eventually: Eventually
) -> None:
    name = lab.config.sources["mysql"].connector
    with connector_pauses(lab, "mysql", eventually):
        source("mysql").execute("UPDATE ecomm.sale SET qtysold = qtysold + 1 WHERE salesid = 7")
        verified = labctl("verify", "sale", "--lab", lab.name)
        assert verified.returncode == ExitCode.UNDECIDED, verified.stdout
        assert f"connector {name} is PAUSED" in verified.stdout
        status = labctl("status", "--lab", lab.name)
        assert status.returncode == ExitCode.NOT_READY, status.stdout
        assert f"connector {name} is PAUSED" in status.stdout
    assert verify_lab(lab, ["sale"], timeout=RECOVERY_SECONDS).equal


@pytest.mark.long
def test_a_connect_that_is_starting_is_waited_for(
    lab: Lab, faults: Faults, source: Callable[[str], Source]
) -> None:
    faults.kill("connect")
    source("mysql").execute("UPDATE ecomm.sale SET qtysold = qtysold - 1 WHERE salesid = 7")
    report = verify_lab(lab, ["sale"], timeout=RECOVERY_SECONDS)
    assert report.equal, report
