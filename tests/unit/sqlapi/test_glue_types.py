"""Glue's names of types, as queries take them and as `information_schema` shows them."""

from __future__ import annotations

import pytest

from sqlapi.catalog.glue_types import of_glue, shown_type
from sqlapi.sql.statement_errors import SqlError


@pytest.mark.parametrize(
    ("glue", "trino"),
    [
        ("int", "integer"), ("string", "varchar"), ("float", "real"), ("binary", "varbinary"),
        ("timestamp", "timestamp(3)"), ("decimal", "decimal(10,0)"),
        ("decimal(10)", "decimal(10,0)"),
        ("DECIMAL(38, 38)", "decimal(38,38)"), ("varchar(5)", "varchar(5)"), ("char(3)", "char(3)"),
        ("array<varchar(5)>", "array(varchar(5))"),
        ("map<string,array<int>>", "map(varchar, array(integer))"),
        ("struct<x:int,Y:struct<z:char(2)>>", "row(x integer, y row(z char(2)))"),
    ],
)  # fmt: skip
def test_a_type_is_shown_as_trino_shows_it(glue: str, trino: str) -> None:
    assert shown_type(glue) == trino


def test_queries_take_texts_without_a_length() -> None:
    assert str(of_glue("varchar(5)")) == str(of_glue("char(3)")) == "varchar"


@pytest.mark.parametrize("glue", ["", "uniontype<int,string>", "varchar(x)", "decimal(39,0)"])
def test_a_type_that_trino_has_not_is_refused(glue: str) -> None:
    with pytest.raises(SqlError):
        shown_type(glue)
