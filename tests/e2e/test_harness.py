"""What the pytest plugin says when a row does not arrive."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.lab.tables.row_trace import trace
from labctl.sources import Source
from labctl.testing.eventually import Eventually, StuckError
from labctl.testing.failure_report import add_account, failures_with_lab, write_page
from labctl.testing.trace import trace_row
from labctl.verify import VerifyReport
from tests.e2e.conftest import Labctl


@pytest.fixture(scope="module", autouse=True)
def arrived(lab: Lab, snapshot: VerifyReport) -> None:
    """A row that these tests follow is everywhere: bronze files are closed by time."""
    del snapshot

    def is_everywhere() -> bool:
        return trace(lab, lab.table("category"), {"catid": 3}).stopped is None

    Eventually(lab)(is_everywhere, row=("category", {"catid": 3}))


def test_a_failed_wait_follows_the_row_through_every_station(eventually: Eventually) -> None:
    with pytest.raises(StuckError) as stuck:
        eventually(lambda: False, seconds=0, row=("category", {"catid": 3}))
    lines = [line.strip() for line in str(stuck.value).splitlines()]
    assert lines[:2] == [
        "not so after 0 s; last result: False",
        "tickit.category catid=3, from source to silver:",
    ]
    for station, words in {
        "source": "current, postgres, ems.category: catid=3, catgroup=",
        "topic": "current, tickit.ems.category, partition 0, offset ",
        "bronze": "current, topics/tickit.ems.category/year=",
        "silver": "current, commit ",
        "in flight": "0 records",
    }.items():
        (said,) = [line for line in lines if line.startswith(f"{station}: ")]
        assert words in said
    assert "states: source_connector_postgres_kafka_avro_tickit RUNNING, tasks RUNNING" in lines
    assert any(line.startswith("services: ") for line in lines)
    assert "end of silver's log:" in lines


def test_a_row_that_is_nowhere_is_said_to_be_nowhere(lab: Lab) -> None:
    lines = [line.strip() for line in trace_row(lab, ("category", {"catid": -1}))]
    assert [line.partition(",")[0] for line in lines[1:5]] == [
        "source: missing",
        "topic: missing",
        "bronze: missing",
        "silver: missing",
    ]


def test_a_failure_of_another_kind_shows_the_lab_and_its_logs(lab: Lab, tmp_path: Path) -> None:
    report = pytest.TestReport("test_it", ("", 0, ""), {}, "failed", "1 < 2", "call")
    add_account(report, lab, AssertionError("1 < 2"))
    ((title, text),) = report.sections
    assert title == f"lab {lab.name}"
    assert "states: tickit.sale running, last commit " in text
    page = write_page(tmp_path, failures_with_lab([report])).read_text()
    for service in lab.services:
        assert f"log of {service.name}, its last " in page


def test_trace_shows_where_a_row_is_and_exits_by_it(lab: Lab, labctl: Labctl) -> None:
    done = labctl("trace", "category", "--where", "catid=3", "--lab", lab.name)
    assert done.returncode == ExitCode.OK, done.stderr
    assert "The row arrived." in done.stdout
    nowhere = labctl("trace", "category", "--where", "catid=-1", "--lab", lab.name)
    assert nowhere.returncode == ExitCode.NOT_READY
    assert "No station knows such a row." in nowhere.stdout
    refused = labctl("trace", "category", "--where", "catgroup=Sports", "--lab", lab.name)
    assert refused.returncode == ExitCode.USAGE
    assert "name one row by its key, catid" in refused.stderr


def test_an_assertion_is_waited_for_and_another_error_is_not(eventually: Eventually) -> None:
    attempts = iter([AssertionError("not yet"), None])

    def condition() -> bool:
        if (error := next(attempts)) is not None:
            raise error
        return True

    assert eventually(condition)
    with pytest.raises(ZeroDivisionError):
        eventually(lambda: 1 // 0)


def test_a_source_is_opened_once_in_a_test(source: Callable[[str], Source]) -> None:
    assert source("mysql") is source("mysql")
    source("mysql").close()
    assert source("mysql").execute("SELECT 1") == [(1,)]
