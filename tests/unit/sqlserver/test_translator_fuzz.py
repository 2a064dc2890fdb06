"""Whatever T-SQL is sent, PostgreSQL gets statements of an allowed set, and names stay names.

`python -m tests.unit.sqlserver.fuzz` does the same with as many batches as it is told to.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.unit.hanging import Watch
from tests.unit.sqlserver.postgres_grammar import EscapeError, check
from tests.unit.sqlserver.tsql_batches import batch, run_batch


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    yield made
    made.close()


@settings(max_examples=400, deadline=None)
@given(seed=st.integers(0, 2**32))
@example(seed=1)
def test_no_batch_escapes_or_hangs(loop: asyncio.AbstractEventLoop, seed: int) -> None:
    text = batch(random.Random(seed))  # noqa: S311 - chance, not secrets
    with Watch().one(text):
        run_batch(loop, text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM ##t", "INSERT t (a) OUTPUT inserted.a INTO [u] VALUES (1)",
        "SET LOCK_TIMEOUT 'x'", "RAISERROR('x', 'a', 1)", "RAISERROR('x', 16, 1",
        "CREATE TABLE t (a varchar(x))", "USE", "WITH c AS (SELECT 1 x) INSERT INTO t",
        "DELETE TOP (2) 0xFROM t", "DELETE TOP (2) $body$ROM [dbo]", "SELECT .5 = 1",
        "INSERT t (a) OUTPUT inserted.a INTO f(1) VALUES (1)",
        "SELECT * FROM [" + "x" * 64 + "]",
    ],
)  # fmt: skip
def test_found_by_fuzzing(loop: asyncio.AbstractEventLoop, text: str) -> None:
    run_batch(loop, text)


@pytest.mark.parametrize(
    "sql",
    [
        "COPY (SELECT 1) TO PROGRAM 'id'", "SELECT pg_read_file('x')", "SELECT 1 /* x */",
        "SET ROLE postgres", 'SELECT * FROM "other.dbo"."t"', "DO $$ BEGIN END $$",
        "SELECT 1; CREATE EXTENSION x", "SELECT CAST('a' AS foreign_schema.t)",
        "SELECT set_config('role', 'postgres', false)", 'SELECT "db.cdc"."f"()',
    ],
)  # fmt: skip
def test_the_check_finds_an_escape(sql: str) -> None:
    with pytest.raises(EscapeError):
        check(sql, ["db", "t"])
