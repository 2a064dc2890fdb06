"""What the pytest plugin says when a row does not arrive."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from labctl.lab.lab import Lab
from labctl.sources import Source
from labctl.testing.eventually import Eventually, StuckError
from labctl.testing.trace import trace_row


def test_a_failed_wait_follows_the_row_through_every_station(eventually: Eventually) -> None:
    with pytest.raises(StuckError) as stuck:
        eventually(lambda: False, seconds=0, row=("category", {"catid": 3}))
    lines = [line.strip() for line in str(stuck.value).splitlines()]
    assert lines[:2] == [
        "not so after 0 s; last result: False",
        "tickit.category catid=3, from source to silver:",
    ]
    for station, words in {
        "source": "catid=3, catgroup=",
        "topic": "partition 0, offset ",
        "bronze": "in topics/tickit.ems.category/year=",
        "silver": "__kafka_offset=",
        "in flight": "0 records",
    }.items():
        (said,) = [line for line in lines if line.startswith(f"{station}: ")]
        assert words in said
    assert "states: source_connector_postgres_kafka_avro_tickit RUNNING, tasks RUNNING" in lines
    assert "end of silver's log:" in lines


def test_a_row_that_is_nowhere_is_said_to_be_nowhere(lab: Lab) -> None:
    lines = [line.strip() for line in trace_row(lab, ("category", {"catid": -1}))]
    assert lines[1:5] == [
        "source: no such row",
        "topic: no such record",
        "bronze: no such record",
        "silver: no such row",
    ]


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
