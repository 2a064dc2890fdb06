"""One of a thing has no s."""

from __future__ import annotations

import pytest

from labctl.counted import counted


@pytest.mark.parametrize(
    ("count", "verb", "said"),
    [
        (0, "", "0 tables"),
        (1, "", "1 table"),
        (1234, "", "1,234 tables"),
        (1, "are", "1 table is"),
        (2, "were", "2 tables were"),
        (1, "were", "1 table was"),
    ],
)
def test_one_and_several(count: int, verb: str, said: str) -> None:
    assert counted(count, "table", verb) == said
