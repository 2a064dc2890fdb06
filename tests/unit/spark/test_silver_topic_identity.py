"""A topic that was recreated, or has more partitions, is not the one of remembered offsets."""

from __future__ import annotations

import pytest

from lakehouse.topic_identity import (
    TopicState,
    has_records_before,
    why_not_ordered,
    why_not_to_go_on,
)

TOPIC = TopicState(id="new", ends={0: 50, 1: 10}, starts={0: 5, 1: 0})


@pytest.mark.parametrize(
    ("remembered", "offsets"),
    [
        pytest.param("new", {0: 50, 1: 0}, id="the same topic"),
        pytest.param("", {0: 50}, id="a table that HoodieStreamer began"),
        pytest.param("old", {}, id="nothing taken in yet"),
        pytest.param("new", {0: 5, 7: 3}, id="a partition nobody knows the end of"),
    ],
)
def test_goes_on(remembered: str, offsets: dict[int, int]) -> None:
    assert why_not_to_go_on(remembered, offsets, TOPIC) is None


@pytest.mark.parametrize(
    ("remembered", "offsets", "why"),
    [
        pytest.param("old", {0: 20}, "recreated", id="another id"),
        pytest.param("", {0: 20, 1: 11}, "ends at offset 10, before 11", id="beyond its end"),
        pytest.param("new", {0: 4}, "from 4 on are no longer in Kafka", id="expired"),
    ],
)
def test_does_not_go_on(remembered: str, offsets: dict[int, int], why: str) -> None:
    found = why_not_to_go_on(remembered, offsets, TOPIC)
    assert found is not None
    assert why in found


def test_without_an_id_offsets_alone_decide() -> None:
    unknown = TopicState(id="", ends={0: 50}, starts={0: 0})

    assert why_not_to_go_on("old", {0: 50}, unknown) is None


@pytest.mark.parametrize(
    ("remembered", "partitions", "is_ordered"),
    [(1, 1, True), (0, 6, True), (1, 0, True), (1, 6, False)],
)
def test_offsets_order_changes_while_the_topic_has_the_partitions_it_had(
    remembered: int, partitions: int, *, is_ordered: bool
) -> None:
    why = why_not_ordered(remembered, TopicState("new", {}, {}, partitions))
    assert (why is None) == is_ordered
    assert why is None or f"it has {partitions} partitions, and had {remembered}" in why


def test_records_that_a_table_has_taken_in_may_still_be_there() -> None:
    assert has_records_before({0: 6}, TOPIC)
    assert not has_records_before({0: 5}, TOPIC)
    assert not has_records_before({}, TOPIC)
