"""The name of a lambda's parameter is the client's; DuckDB does not see it."""

from __future__ import annotations

import pytest

from tests.unit.sqlapi.asking import answer

HOSTILE = ['a"b', 'x": x); DROP TABLE t; --', "a'b", "ä b", "?", "$1"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_parameter_may_have_any_name(name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    _, rows = answer(f"SELECT transform(ARRAY[1, 2], {quoted} -> {quoted} + 1)")
    assert rows == answer("SELECT ARRAY[2, 3]")[1]
    _, rows = answer(
        f"SELECT zip_with(ARRAY[1], ARRAY[2], ({quoted}, b) -> {quoted} + b),"
        f" map_filter(MAP(ARRAY[1, 2], ARRAY[3, 4]), ({quoted}, v) -> {quoted} < v - 1)"
    )
    assert rows == answer("SELECT ARRAY[3], MAP(ARRAY[1, 2], ARRAY[3, 4])")[1]


def test_lambdas_within_lambdas_keep_their_parameters_apart() -> None:
    _, rows = answer(
        "SELECT transform(ARRAY[1, 2], x -> reduce(ARRAY[10, 20], 0, (s, x) -> s + x, s -> s + x))"
    )
    assert rows == answer("SELECT ARRAY[31, 32]")[1]
