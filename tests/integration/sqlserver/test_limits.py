"""One client asks for more than the stand-in has: it gets an error, and the others are answered."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack

import pymssql
import pytest

from labctl.sqlserver.limits import LONGEST_MESSAGE, MOST_LOGINS, MOST_TOKENS_TRANSLATED
from tests.integration.sqlserver.conftest import Postgres, Sql, StandIn, eventually


@pytest.fixture
def other(standin: StandIn) -> Iterator[Sql]:
    """Another client."""
    with contextlib.closing(standin.connect()) as connection:
        yield Sql(connection)


def served_beside(sql: Sql, text: str, other: Sql) -> int:
    """Run a batch that takes a while; how often `other` was answered meanwhile."""
    working = threading.Thread(target=lambda: sql(text))
    working.start()
    answered = 0
    while working.is_alive():
        assert other("SELECT 1") == [(1,)]
        answered += 1
    return answered


def test_others_are_answered_while_a_long_statement_is_translated(sql: Sql, other: Sql) -> None:
    width = MOST_TOKENS_TRANSLATED // 1000 // 4
    sql(f"CREATE TABLE #t ({', '.join(f'a{n} int' for n in range(width))})")
    rows = f",({','.join('1' * width)})" * 1000
    # It took all of the server's time, for seconds.
    assert served_beside(sql, f"INSERT INTO #t VALUES {rows[1:]}", other) > 10
    assert sql("SELECT count(*) FROM #t") == [(1000,)]


def test_a_batch_that_is_too_long_is_refused_and_the_client_goes_on(sql: Sql) -> None:
    assert sql.error(f"SELECT '{'x' * (LONGEST_MESSAGE // 2)}'") == 40517
    assert sql("SELECT 1") == [(1,)]


def test_a_long_literal_is_a_value_wherever_it_is(sql: Sql) -> None:
    text = "x" * 5_000_000
    assert sql(f"DECLARE @a varchar(max) = '{text}' SET @a = '{text}' SELECT len(@a)") == [
        (5_000_000,)
    ]
    assert sql(f"IF len('{text}') = 5000000 SELECT 1") == [(1,)]


@pytest.mark.long
def test_a_value_that_is_too_large_ends_its_own_connection_alone(
    standin: StandIn, other: Sql
) -> None:
    with contextlib.closing(standin.connect(timeout=120)) as connection:
        too_large = Sql(connection)
        assert too_large.error("SELECT REPLICATE(CAST('x' AS varchar(max)), 300000000)") == 701
    assert other("SELECT 1") == [(1,)]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("len(REPLICATE('x', 300000000))", 8000),
        ("len(REPLICATE(N'x', 300000000))", 4000),
        ("len(REPLICATE('abc', 2700))", 8000),
        ("REPLICATE('ab', 3)", "ababab"),
        ("REPLICATE('x', -1)", None),
        ("REPLICATE('', 300000000)", ""),
        ("datalength(SPACE(2000000000))", 8000),
        ("SPACE(-1)", None),
        ("STR(1, 2000000000, 0)", None),
        ("STR(1.25, 6, 1)", "   1.3"),
        ("len(REPLICATE(CAST('x' AS varchar(max)), 20000))", 20000),
    ],
)
def test_functions_that_build_texts_stop_where_sql_servers_do(
    sql: Sql, expression: str, value: object
) -> None:
    assert sql(f"SELECT {expression}") == [(value,)]


def test_a_text_of_more_than_postgresql_can_hold_is_an_error_of_its_own(sql: Sql) -> None:
    assert sql.error("SELECT len(REPLICATE(CAST('x' AS varchar(max)), 2000000000))") == 701
    assert sql("SELECT 1") == [(1,)]


@pytest.mark.long
def test_a_row_of_any_size_is_an_error_and_not_the_end_of_postgresql(sql: Sql, other: Sql) -> None:
    value = "REPLICATE(CAST('x' AS varchar(max)), 50000000)"
    assert sql.error(f"SELECT {', '.join([value] * 40)}") == 701
    assert sql("SELECT 1") == [(1,)]
    assert other("SELECT 1") == [(1,)]


def test_clients_that_never_log_in_keep_nobody_out(standin: StandIn) -> None:
    """More than there is room for, and more than a process may have files."""
    with ExitStack() as stack:
        for _ in range(3 * MOST_LOGINS):
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", standin.port)))
            idle.sendall(b"\x12\x00\x7f\xff\0\0\0\0")  # a packet that does not come
        with contextlib.closing(standin.connect()) as connection:
            assert Sql(connection)("SELECT 1") == [(1,)]


def test_a_statement_ends_with_its_client(standin: StandIn, postgres: Postgres) -> None:
    def running() -> bool:
        return bool(
            postgres.sql(
                "SELECT 1 FROM pg_stat_activity WHERE usename LIKE 'mssql%' AND state = 'active' "
                "AND query LIKE '%generate_series%'"
            )
        )

    series = ", ".join(f"GENERATE_SERIES(1, 100000) a{n}" for n in range(4))
    connection = standin.connect(timeout=1)
    with pytest.raises(pymssql.Error):  # its client gives up
        Sql(connection)(f"SELECT count(*) FROM {series}")
    connection.close()
    eventually(lambda: not running(), "PostgreSQL ends the statement", 60)


def test_what_a_statement_puts_on_disk_is_limited(standin: StandIn, postgres: Postgres) -> None:
    role = postgres.sql("SELECT mssql.service_role()", standin.database)[0][0]
    settings = postgres.sql(f"SELECT rolconfig FROM pg_roles WHERE rolname = '{role}'")[0][0]
    assert "temp_file_limit=4GB" in settings


def test_numbers_out_of_range_are_errors_and_not_the_end_of_a_connection(sql: Sql) -> None:
    assert sql.error("THROW 99999999999, 'x', 1") == 35100
    assert sql.error(f"WAITFOR DELAY '{'9' * 400}:00:00'") == 148
    assert sql("SELECT 1") == [(1,)]
