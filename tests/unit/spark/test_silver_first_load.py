from __future__ import annotations

import pytest

from lakehouse.first_load import FirstLoad

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
