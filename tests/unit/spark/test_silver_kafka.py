"""From which offsets a table's query starts."""

from __future__ import annotations

import json

from lakehouse.kafka import Kafka


def test_goes_on_where_the_target_stands_and_earliest_with_the_rest() -> None:
    starting = Kafka.starting_offsets({"a": [0, 1], "b": [0]}, {"a": {0: 7}, "b": {}})
    assert json.loads(starting) == {"a": {"0": 7, "1": -2}, "b": {"0": -2}}


def test_names_no_partition_while_nothing_is_known() -> None:
    assert Kafka.starting_offsets({"a": [0], "b": [0]}, {"a": {}, "b": {}}) == "earliest"
    assert Kafka.starting_offsets({"a": [0]}, {}) == "earliest"
