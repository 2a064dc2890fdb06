"""When a topic holds a first load, and what waits for it."""

from __future__ import annotations

import pytest

from lakehouse.first_load import FirstLoad, SilverFirst

ENOUGH = 100_000


@pytest.mark.parametrize(
    ("looks", "is_arriving"),
    [
        ([(0, 0.0)], True),  # nothing to compare with yet
        ([(11, 0.0), (11, 0.9)], True),
        ([(11, 0.0), (11, 1.0)], False),
        ([(0, 0.0), (999, 1.0)], False),
        ([(0, 0.0), (1_000, 1.0)], True),
        ([(0, 0.0), (3_000, 1.0), (3_000, 1.5)], True),  # a pause shorter than a second
        ([(0, 0.0), (3_000, 1.0), (3_000, 2.0)], False),
        ([(0, 0.0), (ENOUGH, 0.1)], False),
        ([(n * 2_000, float(n)) for n in range(50)], True),
        ([(n * 1_000, float(n)) for n in range(61)], False),
    ],
)
def test_a_topic_that_grows_fast_is_waited_for(
    looks: list[tuple[int, float]], is_arriving: bool
) -> None:
    first_load = FirstLoad(ENOUGH)
    *before, (records, now) = looks
    for earlier in before:
        first_load.is_arriving(*earlier)
    assert first_load.is_arriving(records, now) is is_arriving


def test_an_unseen_topic_may_hold_a_first_load_and_an_empty_one_does_not() -> None:
    first_load = FirstLoad(ENOUGH)
    assert not first_load.has_begun
    first_load.is_arriving(0, 0.0)
    assert first_load.has_begun
    assert first_load.is_empty
    first_load.is_arriving(7, 1.0)
    assert not first_load.is_empty


def test_bronze_waits_for_the_first_loads_of_its_topics_but_not_for_ever() -> None:
    tables = {"topic.a": "a", "topic.b": "b"}
    loading = {"a", "b"}
    silver_first = SilverFirst(lambda topics: sorted(loading & {tables[topic] for topic in topics}))

    assert silver_first.waits_for(["topic.a"], 0.0) == "silver's first load of a"
    assert silver_first.waits_for(tables, 1.0) == "silver's first load of a, b"
    loading.remove("a")
    assert silver_first.waits_for(["topic.a"], 2.0) is None
    assert silver_first.waits_for(tables, 119.0) == "silver's first load of b"
    assert silver_first.waits_for(tables, 120.0) is None
