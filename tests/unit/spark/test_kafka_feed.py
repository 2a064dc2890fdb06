"""How often tables look for new records."""

from __future__ import annotations

import pytest

from lakehouse.kafka_feed import trigger_ms


@pytest.mark.parametrize(("tables", "milliseconds"), [(1, 100), (20, 100), (60, 300), (400, 2000)])
def test_many_tables_look_less_often_each(tables: int, milliseconds: int) -> None:
    assert trigger_ms(tables) == milliseconds
