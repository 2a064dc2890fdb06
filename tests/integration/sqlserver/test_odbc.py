"""pyodbc with FreeTDS's ODBC driver: parameters, transactions, catalog calls, TLS, cancelling."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.integration.sqlserver.conftest import PASSWORD, Sql, StandIn

Connect = Callable[..., Any]


@pytest.fixture
def connect(standin: StandIn, odbc_driver: str, sql: Sql) -> Iterator[Connect]:
    """Opens pyodbc connections to the test's database."""
    import pyodbc

    database = sql("SELECT DB_NAME()")[0][0]
    opened = []

    def open_one(**options: Any) -> Any:
        settings = {
            "DRIVER": odbc_driver, "SERVER": "127.0.0.1", "PORT": standin.port, "UID": "sa",
            "PWD": PASSWORD, "DATABASE": database, "TDS_Version": "7.4",
            "ClientCharset": "UTF-8", **options,
        }  # fmt: skip
        text = ";".join(f"{key}={value}" for key, value in settings.items())
        opened.append(pyodbc.connect(text, timeout=10))
        return opened[-1]

    yield open_one
    for connection in opened:
        connection.close()


def test_parameters_and_transactions(connect: Connect) -> None:
    connection = connect()
    cursor = connection.cursor()
    cursor.execute(
        "CREATE TABLE t (id int IDENTITY PRIMARY KEY, n nvarchar(20), v varbinary(max), "
        "d datetime2(6), x decimal(10,3), b bit, f float, dt date)"
    )
    row = ("Łódź", b"\0\1", dt.datetime(2020, 1, 2, 3, 4, 5), Decimal("12.345"), True, 1.5,
           dt.date(2020, 2, 3))  # fmt: skip
    cursor.execute("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", *row)
    cursor.execute("INSERT INTO t (n) VALUES (?)", None)
    connection.commit()
    cursor.execute("DELETE FROM t")
    connection.rollback()
    assert tuple(cursor.execute("SELECT * FROM t WHERE id = ?", 1).fetchone()) == (1, *row)
    cursor.executemany("INSERT INTO t (n) VALUES (?)", [(str(n),) for n in range(50)])
    connection.commit()
    assert cursor.execute("SELECT COUNT(*) FROM t").fetchval() == 52
    assert cursor.execute("SELECT id FROM t WHERE id = ?", "2").fetchval() == 2


def test_catalog_functions(connect: Connect) -> None:
    cursor = connect().cursor()
    cursor.execute("CREATE TABLE dbo.p (a int, b varchar(5), CONSTRAINT pk_p PRIMARY KEY (a))")
    cursor.execute("CREATE TABLE dbo.c (x int REFERENCES p (a))")
    assert [r.table_name for r in cursor.tables(schema="dbo", tableType="TABLE")] == ["c", "p"]
    assert [(r.column_name, r.type_name) for r in cursor.columns(table="p")] == [
        ("a", "int"), ("b", "varchar"),
    ]  # fmt: skip
    assert [r.column_name for r in cursor.primaryKeys("p")] == ["a"]
    assert [r.fkcolumn_name for r in cursor.foreignKeys(table="p")] == ["x"]
    assert "pk_p" in [r.index_name for r in cursor.statistics("p")]


def test_errors_carry_their_number(connect: Connect) -> None:
    import pyodbc

    cursor = connect(autocommit=True).cursor()
    with pytest.raises(pyodbc.ProgrammingError, match="208"):
        cursor.execute("SELECT * FROM missing")
    with pytest.raises(pyodbc.Error, match="pipe 7"):
        cursor.execute("RAISERROR('broken %s %d', 16, 1, 'pipe', 7)")
    with pytest.raises(pyodbc.Error, match=r"4060|18456"):
        connect(DATABASE="no_such_database")


def test_encrypted(connect: Connect) -> None:
    assert connect(Encryption="require").execute("SELECT 1").fetchval() == 1
    text = (
        connect(Encryption="require")
        .execute("SELECT REPLICATE(CAST(N'é' AS nvarchar(max)), 50000)")
        .fetchval()
    )
    assert text == "é" * 50000


def test_cancel(connect: Connect) -> None:
    import pyodbc

    cursor = connect(autocommit=True).cursor()
    threading.Timer(0.3, cursor.cancel).start()
    begin = time.monotonic()
    with pytest.raises(pyodbc.Error):
        cursor.execute("WAITFOR DELAY '00:03:00'")
    assert time.monotonic() - begin < 90
    assert cursor.execute("SELECT 1").fetchval() == 1
