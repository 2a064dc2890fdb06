"""A batch has no more records, and about no more bytes, than there is memory for."""

from __future__ import annotations

import random
import secrets
from pathlib import Path

import pytest

from labctl.config.lab_config import find_project
from labctl.services.kafka_service import MESSAGE_BYTES, SETTINGS
from lakecontract.properties import read_properties
from lakehouse import batch_limit
from lakehouse.batch_limit import BatchLimit, LogSize, Spans, is_too_large

MIB = 1024 * 1024


def limit(*, records: int = 50_000, size: int = 32 * MIB, halvings: int = 0) -> BatchLimit:
    return BatchLimit(records, size, halvings)


def counts(parts: list[Spans]) -> list[int]:
    return [
        sum(len(span) for numbers in part.values() for span in numbers.values()) for part in parts
    ]


def test_small_records_are_bounded_by_their_number() -> None:
    one = limit()
    one.noted("t", LogSize(records=172_456, size=172_456 * 200))

    assert counts(list(one.parts({"t": {0: range(120_000)}}))) == [50_000, 50_000, 20_000]


def test_records_of_a_mebibyte_are_bounded_by_their_bytes() -> None:
    one = limit()
    one.noted("t", LogSize(records=100, size=100 * MIB))

    assert counts(list(one.parts({"t": {0: range(100)}}))) == [32, 32, 32, 4]


def test_one_record_larger_than_the_limit_is_a_part_of_its_own() -> None:
    one = limit(size=MIB)
    one.noted("t", LogSize(records=10, size=50 * MIB))

    assert counts(list(one.parts({"t": {0: range(3)}}))) == [1, 1, 1]


def test_what_a_topic_grew_by_counts_if_it_is_larger_than_the_rest() -> None:
    one = limit()
    one.noted("t", LogSize(records=1_000_000, size=200_000_000))
    one.noted("t", LogSize(records=1_000_100, size=200_000_000 + 100 * MIB))
    assert one.average("t") == MIB
    # What was removed from the log meanwhile says nothing of the records that came.
    one.noted("t", LogSize(records=1_000_200, size=1_000))
    assert 0 < one.average("t") < 1


def test_parts_are_the_whole_in_the_order_of_offsets() -> None:
    seed = secrets.randbits(32)
    print(f"seed {seed}")
    chance = random.Random(seed)  # noqa: S311 - reproducible, not secret
    spans = {
        topic: {
            number: range(start := chance.randrange(1_000), start + chance.randrange(300))
            for number in range(3)
        }
        for topic in ("a", "b", "c")
    }
    one = limit(records=100, size=64 * MIB)
    for topic in spans:
        one.noted(topic, LogSize(records=1_000, size=chance.randrange(1, 2_000) * MIB))
    offsets: dict[tuple[str, int], list[int]] = {}
    for part in one.parts(spans):
        assert 1 <= sum(len(span) for numbers in part.values() for span in numbers.values()) <= 100
        weights = (
            (sum(map(len, numbers.values())), one.average(topic)) for topic, numbers in part.items()
        )
        total = [count * average for count, average in weights]
        assert sum(total) <= 64 * MIB or counts([part]) == [1]
        for topic, numbers in part.items():
            for number, span in numbers.items():
                offsets.setdefault((topic, number), []).extend(span)

    assert offsets == {
        (topic, number): list(span)
        for topic, numbers in spans.items()
        for number, span in numbers.items()
        if span
    }


def test_a_part_that_fails_halves_the_next_and_success_doubles_again() -> None:
    one = limit(records=1_024)
    parts = one.parts({"t": {0: range(10_000)}})
    assert counts([next(parts)]) == [1_024]

    one.failed()
    one.failed()
    assert counts([next(parts)]) == [256]

    assert one.succeeded()
    assert counts([next(parts)]) == [512]
    assert one.succeeded()
    assert one.succeeded()
    assert not one.succeeded()
    assert counts([next(parts)]) == [1_024]


def test_the_first_death_changes_nothing_the_next_ones_halve_down_to_one_record() -> None:
    one = limit(records=1_024)
    one.died()
    assert one.records == 1_024
    one.died()
    assert (one.records, one.bytes) == (512, 16 * MIB)
    for _ in range(50):
        one.died()
    assert one.records == 1
    for _ in range(50):
        one.succeeded()
    assert one.records == 1_024


def test_the_largest_message_is_one_fact_for_producer_brokers_and_batches() -> None:
    worker = read_properties(find_project(Path(__file__)) / "connectors" / "worker.properties")

    assert worker["producer.max.request.size"] == str(MESSAGE_BYTES)
    assert SETTINGS["message.max.bytes"] == str(MESSAGE_BYTES)
    assert batch_limit.LARGEST_MESSAGE == MESSAGE_BYTES


def test_what_cannot_be_too_much_needs_no_look_at_the_topic() -> None:
    assert limit().is_surely_small(4)
    assert not limit().is_surely_small(5)
    assert not limit(halvings=3).is_surely_small(4)


@pytest.mark.parametrize(
    ("error", "too_large"),
    [
        (MemoryError(), True),
        (RuntimeError("Job aborted\nCaused by: java.lang.OutOfMemoryError: Java heap space"), True),
        (RuntimeError("is bigger than spark.driver.maxResultSize (1024.0 MiB)"), True),
        (OSError("the registry does not answer"), False),
    ],
)
def test_which_failures_are_for_want_of_memory(error: Exception, too_large: bool) -> None:
    assert is_too_large(error) is too_large
