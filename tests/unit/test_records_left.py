"""How many records of a topic the Spark application has still to take in."""

from __future__ import annotations

import pytest

from labctl.kafka.offsets import records_left


@pytest.mark.parametrize(
    ("ends", "offsets", "begins", "left"),
    [
        ({0: 7}, {}, {}, 7),
        ({0: 7, 1: 3}, {"0": 5}, {}, 5),
        ({0: 7, 1: 3}, {"0": 5}, {"0": 0, "1": 3}, 2),
        # A topic that was emptied: nothing is left of it.
        ({0: 7}, {}, {"0": 7}, 0),
        ({0: 9}, {}, {"0": 7}, 2),
        ({0: 9}, {"0": 9}, {"0": 7}, 0),
        ({0: 2}, {"0": 5}, {}, 0),
    ],
)
def test_records_before_the_first_that_a_topic_has_are_not_waited_for(
    ends: dict[int, int], offsets: dict[str, int], begins: dict[str, int], left: int
) -> None:
    assert records_left(ends, offsets, begins) == left
