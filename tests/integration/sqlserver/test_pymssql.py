"""pymssql against the stand-in: definitions, changes, types, errors, scripts."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import socket
import uuid
from decimal import Decimal
from typing import Any

import pytest

from tests.integration.sqlserver.conftest import PASSWORD, Sql, StandIn


def test_a_statement_larger_than_a_socket_takes_at_once(sql: Sql) -> None:
    """What PostgreSQL's socket does not take at first must follow: it never answers half of it."""
    text = "x" * 24_000_000
    assert sql("SELECT LEN(%s)", (text,)) == [(len(text),)]


def test_says_that_it_is_a_stand_in(sql: Sql) -> None:
    assert "stand-in" in sql("SELECT @@VERSION")[0][0]


@pytest.mark.parametrize(
    ("declared", "literal", "value"),
    [
        ("bit", "1", True),
        ("tinyint", "255", 255),
        ("smallint", "-32768", -32768),
        ("int", "2147483647", 2147483647),
        ("bigint", "-9223372036854775808", -9223372036854775808),
        ("decimal(38,10)", "1234567890123456789012345678.0123456789",
         Decimal("1234567890123456789012345678.0123456789")),
        ("decimal(8,2)", "-12.30", Decimal("-12.30")),
        ("money", "-922337203685477.5808", Decimal("-922337203685477.5808")),
        ("smallmoney", "214748.3647", Decimal("214748.3647")),
        ("float", "1.5e300", 1.5e300),
        ("real", "0.5", 0.5),
        ("date", "'0001-01-01'", dt.date(1, 1, 1)),
        ("datetime", "'1999-12-31T23:59:59.997'", dt.datetime(1999, 12, 31, 23, 59, 59, 997000)),
        ("smalldatetime", "'2008-01-01 10:30'", dt.datetime(2008, 1, 1, 10, 30)),
        ("datetime2(6)", "'2008-01-01 10:30:00.123456'",
         dt.datetime(2008, 1, 1, 10, 30, 0, 123456)),
        ("time(3)", "'23:59:59.999'", dt.time(23, 59, 59, 999000)),
        ("uniqueidentifier", "'6F9619FF-8B86-D011-B42D-00C04FC964FF'",
         uuid.UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff")),
        ("char(5)", "'ab'", "ab   "),
        ("varchar(20)", "'Zoë'", "Zoë"),
        ("nchar(4)", "N'Łó'", "Łó  "),
        ("nvarchar(20)", "N'日本語 😀'", "日本語 😀"),
        ("nvarchar(max)", "REPLICATE(CAST(N'x' AS nvarchar(max)), 20000)", "x" * 20000),
        ("varbinary(8)", "0x00FF10", b"\x00\xff\x10"),
        ("binary(4)", "0x01", b"\x01\x00\x00\x00"),
        ("varbinary(max)", "0x" + "AB" * 4000, b"\xab" * 4000),
    ],
)  # fmt: skip
def test_type_comes_back_as_it_went_in(sql: Sql, declared: str, literal: str, value: Any) -> None:
    sql(f"CREATE TABLE t (id int PRIMARY KEY, v {declared}); INSERT INTO t VALUES (1, {literal})")
    sql("INSERT INTO t VALUES (2, NULL)")
    assert sql("SELECT v FROM t ORDER BY id") == [(value,), (None,)]
    shown = sql(
        "SELECT DATA_TYPE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = 't' "
        "AND COLUMN_NAME = 'v'"
    )[0][0]
    assert shown == declared.partition("(")[0]


def test_names_ignore_case_and_keep_it(sql: Sql) -> None:
    sql("CREATE TABLE dbo.[Order Line] (LineId int PRIMARY KEY, ItemName varchar(10))")
    sql("INSERT INTO [order line] (LINEID, itemname) VALUES (1, 'a')")
    cursor = sql.connection.cursor()
    cursor.execute("SELECT * FROM DBO.[ORDER LINE]")
    assert [d[0] for d in cursor.description] == ["LineId", "ItemName"]
    cursor.fetchall()
    assert sql("SELECT name FROM sys.tables") == [("Order Line",)]


def test_what_postgresql_would_cut_or_cannot_store_is_refused(sql: Sql) -> None:
    longest = "x" * 63
    sql(f"CREATE TABLE t (id int, [{longest}] int)")
    for statement in (f"CREATE TABLE u ([{longest}y] int)", f"ALTER TABLE t ADD [{longest}y] int"):
        assert sql.error(statement) == 103
    assert sql.error("SELECT N'a' + NCHAR(0)") == 40517


def test_identity_output_and_scope_identity(sql: Sql) -> None:
    sql("CREATE TABLE t (id int IDENTITY(10, 5) PRIMARY KEY, v varchar(10) DEFAULT 'd')")
    made = sql.sets("INSERT INTO t (v) OUTPUT inserted.id, inserted.v VALUES ('a'), ('b')")
    assert made == [[(10, "a"), (15, "b")]]
    assert sql("INSERT INTO t DEFAULT VALUES; SELECT SCOPE_IDENTITY(), @@ROWCOUNT") == [(20, 1)]
    assert sql.error("INSERT INTO t (id) VALUES (1)") == 544
    sql("SET IDENTITY_INSERT t ON; INSERT INTO t (id) VALUES (100); SET IDENTITY_INSERT t OFF")
    assert sql("INSERT INTO t DEFAULT VALUES; SELECT SCOPE_IDENTITY()") == [(105,)]
    assert sql("DELETE FROM t OUTPUT deleted.v WHERE id = 15") == [("b",)]
    assert sql("UPDATE t SET v = 'z' OUTPUT deleted.v, inserted.v WHERE id = 10") == [("a", "z")]
    assert sql("UPDATE t SET v = default OUTPUT inserted.v WHERE id = 10") == [("d",)]
    assert sql.error("UPDATE t SET v = [default] WHERE id = 10") == 207


def test_top_merge_update_from_and_delete_from(sql: Sql) -> None:
    sql("CREATE TABLE a (id int PRIMARY KEY, v int); CREATE TABLE b (id int PRIMARY KEY, v int)")
    sql("INSERT INTO a VALUES (1, 1), (2, 2), (3, 3); INSERT INTO b VALUES (2, 20), (4, 40)")
    assert sql("SELECT TOP 2 id FROM a ORDER BY id DESC") == [(3,), (2,)]
    sql("UPDATE x SET x.v = b.v FROM a AS x JOIN b ON b.id = x.id")
    assert sql("SELECT v FROM a ORDER BY id") == [(1,), (20,), (3,)]
    changes = sql(
        "MERGE a AS t USING b AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v += 1 "
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v) "
        "WHEN NOT MATCHED BY SOURCE THEN DELETE OUTPUT $action, inserted.id, deleted.id;"
    )
    assert sorted(changes, key=str) == sorted(
        [("UPDATE", 2, 2), ("INSERT", 4, None), ("DELETE", None, 1), ("DELETE", None, 3)], key=str
    )
    sql("DELETE a FROM a JOIN b ON a.id = b.id WHERE b.v = 40")
    assert sql("SELECT id, v FROM a") == [(2, 21)]
    sql("DELETE TOP (1) FROM b")
    assert sql("SELECT COUNT(*) FROM b") == [(1,)]


def test_transactions_savepoints_and_failed_statements(sql: Sql) -> None:
    sql("CREATE TABLE t (id int PRIMARY KEY)")
    rows = sql(
        "BEGIN TRAN; INSERT INTO t VALUES (1); SAVE TRAN s; INSERT INTO t VALUES (2); "
        "ROLLBACK TRAN s; BEGIN TRAN; SELECT @@TRANCOUNT, XACT_STATE(); COMMIT; COMMIT"
    )
    assert rows == [(2, 1)]
    assert sql.error("BEGIN TRAN INSERT INTO t VALUES (1) INSERT INTO t VALUES (3) COMMIT") == 2627
    assert sql("SELECT id FROM t ORDER BY id") == [(1,), (3,)]
    sql("BEGIN TRAN; DELETE FROM t; ROLLBACK")
    assert sql("SELECT COUNT(*) FROM t") == [(2,)]
    assert sql.error("COMMIT") == 3902
    assert sql.error("ROLLBACK") == 3903


def test_scripts(sql: Sql) -> None:
    sql("CREATE TABLE t (id int PRIMARY KEY)")
    assert sql(
        "DECLARE @i int = 0, @sum int = 0 WHILE @i < 10 BEGIN SET @i += 1 "
        "IF @i % 2 = 0 CONTINUE IF @i > 7 BREAK SET @sum = @sum + @i END SELECT @sum, @i"
    ) == [(16, 9)]
    assert sql(
        "BEGIN TRY INSERT INTO t VALUES (1), (1) END TRY "
        "BEGIN CATCH SELECT ERROR_NUMBER(), ERROR_SEVERITY() END CATCH"
    ) == [(2627, 14)]
    assert sql("DECLARE @t TABLE (a int, b varchar(5)); INSERT @t VALUES (1, 'x'); "
               "SELECT b FROM @t WHERE a = 1") == [("x",)]  # fmt: skip
    assert sql.error("THROW 50001, 'no', 3") == 50001
    assert sql.error("RAISERROR('broken', 16, 1)") == 50000
    assert sql("DECLARE @n int; SELECT @n = COUNT(*) FROM t; SELECT @n") == [(0,)]
    assert sql("EXEC sp_executesql N'SELECT @a + 1', N'@a int', @a = 41") == [(42,)]


def test_an_error_goes_to_the_nearest_catch(sql: Sql) -> None:
    """Whatever TRY ended before, and whether or not the statement is a procedure's."""
    sql("CREATE TABLE t (id int PRIMARY KEY)")
    sql("INSERT INTO t VALUES (1)")
    sql("CREATE PROCEDURE fails AS INSERT INTO t VALUES (1) SELECT 'went on'")
    inner = "BEGIN TRY SELECT 1 END TRY BEGIN CATCH SELECT 2 END CATCH "
    attempts = (
        inner + "INSERT INTO t VALUES (1)",
        "EXEC fails",
        "EXEC('INSERT INTO t VALUES (1)')",
        "BEGIN TRY EXEC fails END TRY BEGIN CATCH THROW END CATCH",
    )
    for attempt in attempts:
        caught = sql(
            f"BEGIN TRY {attempt} SELECT 'not reached' END TRY "
            "BEGIN CATCH SELECT ERROR_NUMBER() END CATCH"
        )
        assert caught == [(2627,)], attempt
    assert sql.error("EXEC fails") == 2627


def test_procedures_views_and_temporary_tables(sql: Sql) -> None:
    sql("CREATE TABLE t (id int PRIMARY KEY); INSERT INTO t VALUES (1), (2)")
    sql("CREATE PROCEDURE twice @a int, @b int = 5 OUTPUT AS BEGIN SET @b = @a * 2; RETURN 7 END")
    assert sql("DECLARE @x int, @r int; EXEC @r = twice 4, @x OUTPUT; SELECT @x, @r") == [(8, 7)]
    sql("CREATE VIEW v AS SELECT id FROM t WHERE id > 1")
    assert sql("SELECT * FROM v") == [(2,)]
    assert sql("SELECT * INTO #c FROM t; SELECT COUNT(*) FROM #c") == [(2,)]
    assert sql.error("EXEC missing") == 2812


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("SELECT * FROM missing", 208),
        ("SELECT missing FROM t", 207),
        ("SELECT 1 FROM t WHERE", 102),
        ("INSERT INTO t VALUES (1, 'a')", 2627),
        ("INSERT INTO t VALUES (2, 'abcdef')", 2628),
        ("INSERT INTO t (id) VALUES (NULL)", 515),
        ("INSERT INTO t VALUES (-1, NULL)", 547),
        ("INSERT INTO u VALUES (99)", 547),
        ("DELETE FROM t WHERE id = 1", 547),
        ("SELECT 1 / 0", 8134),
        ("SELECT CAST('x' AS int)", 245),
        ("SELECT CAST('x' AS date)", 241),
        ("SELECT CAST(300 AS tinyint)", 220),
        ("SELECT @missing", 137),
        ("DECLARE @a int, @a int", 134),
        ("CREATE TABLE t (a int)", 2714),
        ("DROP TABLE missing", 3701),
        ("USE missing", 911),
        ("SELECT nonsense(1)", 195),
        ("SELECT 'unclosed", 105),
        ("SELECT a FROM t /* unclosed", 113),
        ("SELECT id FROM t FOR XML PATH", 40517),
        ("CREATE TABLE x (a xml)", 40517),
        ("DECLARE c CURSOR FOR SELECT 1", 40517),
        ("CREATE TRIGGER tr ON t AFTER INSERT AS SELECT 1", 40517),
    ],
)
def test_error_numbers(sql: Sql, text: str, number: int) -> None:
    sql("CREATE TABLE t (id int PRIMARY KEY CHECK (id > 0), v varchar(5))")
    sql("INSERT INTO t VALUES (1, 'a')")
    sql("CREATE TABLE u (id int REFERENCES t (id)); INSERT INTO u VALUES (1)")
    assert sql.error(text) == number
    assert sql("SELECT COUNT(*) FROM t") == [(1,)], "the connection goes on"


def test_login_is_checked(standin: StandIn) -> None:
    import pymssql

    with pytest.raises(pymssql.OperationalError) as caught:
        standin.connect(password=PASSWORD[::-1])
    assert caught.value.args[0][0] == 18456
    with pytest.raises(pymssql.OperationalError):
        standin.connect("no_such_database")
    assert PASSWORD not in standin.log()


@pytest.mark.parametrize(
    "sent",
    [
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        # A packet that says it is longer than what may come before a login.
        b"\x12\x01\xff\xff\x00\x00\x00\x00" + b"x" * 70_000,
        # A login of which only the beginning comes.
        b"\x10\x01\x01\x00\x00\x00\x01\x00" + b"\x00" * 20,
    ],
    ids=["no-tds", "oversized", "truncated"],
)
def test_a_broken_stream_ends_its_own_connection_only(
    standin: StandIn, sql: Sql, sent: bytes
) -> None:
    with (
        socket.create_connection(("127.0.0.1", standin.port), timeout=10) as broken,
        contextlib.suppress(ConnectionError),
    ):
        broken.sendall(sent)
        broken.shutdown(socket.SHUT_WR)
        while broken.recv(4096):
            """Until the server closes it."""
    assert sql("SELECT 1") == [(1,)]
    assert "defect" not in standin.log()


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("LEN('ab  ')", 2), ("DATALENGTH(N'ab')", 4), ("CHARINDEX('b', 'abc')", 2),
        ("STUFF('abcd', 2, 2, 'X')", "aXd"), ("SUBSTRING('abcd', 2, 2)", "bc"),
        ("LEFT('abc', 2) + RIGHT('abc', 1)", "abc"), ("'a' + 'b' + N'c'", "abc"),
        ("CONCAT('a', 1, NULL)", "a1"), ("ISNULL(NULL, 5)", 5), ("IIF(1 > 2, 'x', 'y')", "y"),
        ("CAST(2.7 AS int)", 2), ("7 / 2", 3), ("7 % 4", 3), ("5 ^ 1", 4),
        ("CONVERT(varchar(10), CAST('2008-02-03' AS date), 101)", "02/03/2008"),
        ("CONVERT(varchar(8), CAST('2008-02-03' AS datetime), 112)", "20080203"),
        ("DATEDIFF(day, '2008-01-01', '2008-03-01')", 60),
        ("DATEPART(weekday, '2008-01-01')", 3), ("YEAR('2008-05-06')", 2008),
        ("DATENAME(month, '2008-05-06')", "May"), ("TRY_CAST('x' AS int)", None),
        ("QUOTENAME('a]b')", "[a]]b]"), ("CASE WHEN 'abc' LIKE 'a[b-d]%' THEN 1 ELSE 0 END", 1),
        ("CASE WHEN 'a_c' LIKE 'a!_c' ESCAPE '!' THEN 1 ELSE 0 END", 1),
        ("CASE WHEN 'a\\b' LIKE 'a\\b' THEN 1 ELSE 0 END", 1),
        ("COALESCE(NULL, 'z')", "z"), ("UPPER('ab')", "AB"), ("REPLACE('aab', 'a', 'x')", "xxb"),
        ("CAST(1 AS bit)", True), ("DB_ID('master') - 1", 0), ("ABS(-5)", 5),
    ],
)  # fmt: skip
def test_expressions(sql: Sql, expression: str, value: Any) -> None:
    assert sql(f"SELECT {expression}") == [(value,)]


def test_aggregates_have_sql_servers_types(sql: Sql) -> None:
    sql("CREATE TABLE t (i int, d decimal(8,2))")
    sql("INSERT INTO t VALUES (1, 1.10), (2, 2.25), (NULL, NULL)")
    assert sql("SELECT AVG(i), SUM(i), COUNT(*), COUNT(i), SUM(d) FROM t") == [
        (1, 3, 3, 2, Decimal("3.35"))
    ]
    assert sql("SELECT i, ROW_NUMBER() OVER (ORDER BY i DESC) FROM t ORDER BY i") == [
        (None, 3), (1, 2), (2, 1),
    ]  # fmt: skip


def test_json_becomes_rows(sql: Sql) -> None:
    sql("CREATE TABLE t (id int PRIMARY KEY, name nvarchar(40), paid decimal(8,2), at datetime2(6),"
        " ok bit, raw varbinary(max))")  # fmt: skip
    rows = [
        {"id": 1, "name": "it's 🎟️", "paid": "10.10", "at": "2008-02-29T10:00:00.000001",
         "ok": True, "raw": "AP8="},
        {"id": 2, "name": "", "paid": 7, "at": None, "ok": 0},
    ]  # fmt: skip
    shape = (
        "id int, name nvarchar(40), paid decimal(8,2), at datetime2(6), ok bit, raw varbinary(max)"
    )
    text = json.dumps(rows, ensure_ascii=False).replace("'", "''")
    sql(f"INSERT INTO t SELECT * FROM OPENJSON(N'{text}') WITH ({shape})")
    assert sql("SELECT * FROM t ORDER BY id") == [
        (1, "it's 🎟️", Decimal("10.10"), dt.datetime(2008, 2, 29, 10, 0, 0, 1), True, b"\x00\xff"),
        (2, "", Decimal("7.00"), None, False, None),
    ]
    nested = "OPENJSON(@j) WITH (x int '$.a.b') AS j"
    assert sql(f'DECLARE @j nvarchar(max) = N\'{{"a": {{"b": 5}}}}\' SELECT j.x FROM {nested}') == [
        (5,)
    ]
    assert sql.error("SELECT * FROM OPENJSON(N'[1]')") == 40517
    assert sql.error("SELECT * FROM OPENJSON(N'[{]') WITH (a int)") == 13609


def test_literals_as_long_as_data(sql: Sql) -> None:
    long = "é" * 100_000
    assert sql(f"SELECT LEN(N'{long}'), N'{long}', 'short'") == [(100_000, long, "short")]
    assert sql(f"DECLARE @t nvarchar(max) SELECT @t = N'{long}' SELECT LEN(@t)") == [(100_000,)]
    assert sql("SELECT DATALENGTH(0x), 0x") == [(0, b"")]


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("0001-01-01T00:00:00+00:00", dt.datetime(1, 1, 1, tzinfo=dt.UTC)),
        ("2008-01-01", dt.datetime(2008, 1, 1, tzinfo=dt.UTC)),
        ("2008-01-01 10:00:00.1234567 -3:30", dt.datetime(2008, 1, 1, 13, 30, 0, 123456, dt.UTC)),
        ("2008-01-01T10:00:00Z", dt.datetime(2008, 1, 1, 10, tzinfo=dt.UTC)),
    ],
)
def test_offsets_as_people_write_them(sql: Sql, text: str, utc: dt.datetime) -> None:
    assert sql(f"SELECT CAST('{text}' AS datetimeoffset)") == [(utc,)]
