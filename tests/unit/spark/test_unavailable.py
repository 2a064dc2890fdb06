"""What Spark is asked of values that PostgreSQL did not send."""

from __future__ import annotations

from lakehouse.unavailable import is_unavailable


def test_each_column_is_read_once_however_many_texts_stand_for_no_value() -> None:
    """In tables of hundreds of columns this takes as long as decoding them, else."""
    asked = is_unavailable([*((f"`c{n}`", "text") for n in range(200)), ("`b`", "bytes")])
    assert asked is not None
    assert [asked.count(f"`c{n}`") for n in range(200)] == [1] * 200
    assert asked.count("`b`") == 1
    assert is_unavailable([]) is None
