"""Scripts of the kind administrators write: they run, or the construct is refused by its name."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest

from tests.integration.sqlserver.conftest import Sql

SETUP = """
SET NOCOUNT ON
IF OBJECT_ID('dbo.orders', 'U') IS NOT NULL DROP TABLE dbo.orders
CREATE TABLE dbo.orders (
    id int IDENTITY(1, 1) NOT NULL CONSTRAINT PK_orders PRIMARY KEY CLUSTERED,
    customer nvarchar(50) NOT NULL,
    amount decimal(10, 2) NOT NULL CONSTRAINT DF_amount DEFAULT (0)
)
INSERT INTO dbo.orders (customer, amount) VALUES (N'Ann', 10), (N'Bob', 20.5), (N'Ann', 5)
"""

SCRIPTS: dict[str, tuple[str, list[list[tuple[Any, ...]]]]] = {
    "merge with output": (
        """
        SET NOCOUNT ON
        DECLARE @changes TABLE (act nvarchar(10), id int)
        CREATE TABLE target (id int PRIMARY KEY, v varchar(10))
        CREATE TABLE source (id int PRIMARY KEY, v varchar(10))
        INSERT target VALUES (1, 'a'), (2, 'b') INSERT source VALUES (2, 'B'), (3, 'c')
        MERGE target AS t USING source AS s ON t.id = s.id
        WHEN MATCHED AND t.v <> s.v THEN UPDATE SET v = s.v
        WHEN NOT MATCHED BY TARGET THEN INSERT (id, v) VALUES (s.id, s.v)
        WHEN NOT MATCHED BY SOURCE THEN DELETE
        OUTPUT $action, COALESCE(inserted.id, deleted.id) INTO @changes;
        SELECT act, id FROM @changes ORDER BY id
        SELECT id, v FROM target ORDER BY id
        """,
        [[("DELETE", 1), ("UPDATE", 2), ("INSERT", 3)], [(2, "B"), (3, "c")]],
    ),
    "temporary table and loop": (
        """
        IF OBJECT_ID('tempdb..#work') IS NOT NULL DROP TABLE #work
        CREATE TABLE #work (id int IDENTITY, n int)
        DECLARE @i int = 0
        WHILE @i < 10
        BEGIN
            IF @i = 7 BREAK
            INSERT INTO #work (n) VALUES (@i * @i)
            SET @i += 1
            IF @i % 2 = 0 CONTINUE
        END
        SELECT COUNT(*), SUM(n), MAX(id) FROM #work
        SELECT TOP (2) n INTO #copy FROM #work ORDER BY n DESC
        SELECT n FROM #copy ORDER BY n
        DROP TABLE #work, #copy
        """,
        [[(7, 91, 7)], [(25,), (36,)]],
    ),
    "try and catch": (
        """
        BEGIN TRY
            BEGIN TRANSACTION
            INSERT INTO orders (customer, amount) VALUES (N'Eve', 1)
            DECLARE @x int = 1 / 0
            COMMIT TRANSACTION
        END TRY
        BEGIN CATCH
            IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION
            SELECT ERROR_NUMBER(), ERROR_SEVERITY(), XACT_STATE()
        END CATCH
        SELECT COUNT(*) FROM orders
        """,
        [[(8134, 16, 0)], [(3,)]],
    ),
    "dynamic SQL": (
        """
        DECLARE @table sysname = N'orders', @sql nvarchar(400), @count int
        SET @sql = N'SELECT @c = COUNT(*) FROM dbo.' + QUOTENAME(@table) + N' WHERE amount > @least'
        EXEC sp_executesql @sql, N'@least decimal(10, 2), @c int OUTPUT',
            @least = 6, @c = @count OUTPUT
        SELECT @count
        EXEC ('SELECT ''' + @table + '''')
        """,
        [[(2,)], [("orders",)]],
    ),
    "output into a table variable": (
        """
        SET NOCOUNT ON
        DECLARE @old TABLE (id int, before decimal(10, 2), after decimal(10, 2))
        UPDATE orders SET amount = amount * 1.1
        OUTPUT inserted.id, deleted.amount, inserted.amount INTO @old WHERE customer = N'Ann'
        SELECT id, before, after FROM @old ORDER BY id
        DELETE FROM orders OUTPUT deleted.id, deleted.customer WHERE amount > 20
        """,
        [
            [(1, Decimal("10.00"), Decimal("11.00")), (3, Decimal("5.00"), Decimal("5.50"))],
            [(2, "Bob")],
        ],
    ),
    "pages and aggregated text": (
        """
        SELECT id, customer FROM orders ORDER BY id OFFSET 1 ROWS FETCH NEXT 1 ROWS ONLY
        SELECT STRING_AGG(customer, ', ') WITHIN GROUP (ORDER BY customer DESC, id) FROM orders
        SELECT STRING_AGG(id, ',') WITHIN GROUP (ORDER BY id) FROM orders
        """,
        [[(2, "Bob")], [("Bob, Ann, Ann",)], [("1,2,3",)]],
    ),
    "update and delete over joins and common tables": (
        """
        UPDATE o SET amount = 99 FROM orders o JOIN (
            SELECT customer, MIN(id) AS id FROM orders GROUP BY customer
        ) AS f ON f.id = o.id;
        WITH many AS (SELECT customer FROM orders GROUP BY customer HAVING COUNT(*) > 1)
        DELETE FROM orders WHERE amount < 99 AND customer IN (SELECT customer FROM many);
        SELECT id, amount FROM orders ORDER BY id
        """,
        [[(1, Decimal("99.00")), (2, Decimal("99.00"))]],
    ),
    "procedure with output and status": (
        """
        EXEC ('CREATE PROCEDURE dbo.add_order @customer nvarchar(50), @id int OUTPUT AS
        BEGIN
            SET NOCOUNT ON
            INSERT INTO dbo.orders (customer) VALUES (@customer)
            SET @id = SCOPE_IDENTITY()
            RETURN 7
        END')
        DECLARE @id int, @status int
        EXEC @status = dbo.add_order @customer = N'Zed', @id = @id OUTPUT
        SELECT @status, @id
        """,
        [[(7, 4)]],
    ),
    "a migration that can run twice": (
        """
        IF NOT EXISTS (SELECT * FROM sys.schemas WHERE name = 'audit') EXEC('CREATE SCHEMA audit')
        IF COL_LENGTH('dbo.orders', 'note') IS NULL
            ALTER TABLE dbo.orders ADD note nvarchar(100) NULL CONSTRAINT DF_note DEFAULT N'-'
        IF EXISTS (SELECT 1 FROM sys.default_constraints WHERE name = 'DF_note')
            ALTER TABLE dbo.orders DROP CONSTRAINT DF_note
        IF EXISTS (SELECT 1 FROM sys.indexes WHERE name = 'IX_customer'
                AND object_id = OBJECT_ID('dbo.orders'))
            DROP INDEX IX_customer ON dbo.orders
        CREATE NONCLUSTERED INDEX IX_customer ON dbo.orders (customer) INCLUDE (amount)
        SELECT name FROM sys.indexes WHERE object_id = OBJECT_ID('dbo.orders') ORDER BY name
        SELECT name FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('dbo.orders')
        """,
        [[("IX_customer",), ("PK_orders",)], [("DF_amount",)]],
    ),
    "savepoints and windows": (
        """
        BEGIN TRAN; SAVE TRAN before_delete; DELETE FROM orders; ROLLBACK TRAN before_delete; COMMIT
        SELECT id, ROW_NUMBER() OVER (PARTITION BY customer ORDER BY id DESC),
            SUM(id) OVER (ORDER BY id ROWS UNBOUNDED PRECEDING) FROM orders ORDER BY id
        """,
        [[(1, 2, 1), (2, 1, 3), (3, 1, 6)]],
    ),
}


@pytest.mark.parametrize("name", SCRIPTS)
def test_script(sql: Sql, name: str) -> None:
    text, expected = SCRIPTS[name]
    sql(SETUP)
    assert sql.sets(text) == expected


REFUSED = {
    "DECLARE c CURSOR LOCAL FAST_FORWARD FOR SELECT name FROM sys.tables OPEN c": "a cursor",
    "CREATE TRIGGER tr ON t AFTER INSERT AS PRINT 'x'": "CREATE TRIGGER",
    "CREATE FUNCTION f() RETURNS int AS BEGIN RETURN 1 END": "CREATE FUNCTION",
    "CREATE TABLE c (a int, b AS a * 2)": "a computed column (b)",
    "CREATE TABLE c (a int, b AS (a * 2) PERSISTED)": "a computed column (b)",
    "CREATE SEQUENCE s START WITH 1": "CREATE SEQUENCE",
    "SELECT name FROM sys.tables FOR JSON PATH": "FOR JSON",
    "SELECT JSON_MODIFY('{}', '$.a', 2)": "JSON_MODIFY",
    "SELECT CHECKSUM('a')": "CHECKSUM",
    "SELECT BINARY_CHECKSUM('a')": "BINARY_CHECKSUM",
    "SELECT RAND(5)": "RAND with a seed",
    "SELECT FORMAT(1, 'P')": "the pattern 'P'",
    "SELECT FORMAT(GETDATE(), 'd', 'de-DE')": "the culture de-DE",
    "SET DATEFORMAT ydm": "SET DATEFORMAT ydm",
    "DBCC CHECKIDENT ('t')": "DBCC",
    "WITH r AS (SELECT 1 AS n) DELETE FROM r": "the common table expression r",
    "WITH r AS (SELECT 1 AS n) UPDATE r SET n = 2": "the common table expression r",
}


def test_refused_by_name(sql: Sql) -> None:
    import pymssql

    for text, name in REFUSED.items():
        with pytest.raises(pymssql.Error) as caught:
            sql(text)
        assert caught.value.args[0] == 40517, text
        assert name in caught.value.args[1].decode(), text


def test_dates(sql: Sql) -> None:
    east = timezone(timedelta(hours=2))
    sql("DECLARE @x int")
    assert sql("SET DATEFORMAT dmy SELECT CAST('03/02/2026' AS date)") == [(date(2026, 2, 3),)]
    assert sql("SET DATEFIRST 1 SELECT @@DATEFIRST, DATEPART(dw, '2026-11-23')") == [(1, 1)]
    # what SET has set outlives a transaction that is rolled back
    sql("BEGIN TRAN SELECT 1 SET DATEFIRST 3 SET DATEFORMAT mdy ROLLBACK")
    assert sql("SELECT @@DATEFIRST, DATEPART(dw, '11/23/2026')") == [(3, 6)]
    sql("SET DATEFIRST 7")
    sql("CREATE TABLE at (o datetimeoffset) INSERT at VALUES ('2026-11-23 01:00:00 +02:00')")
    assert sql("SELECT CAST(o AS date), CAST(o AS datetime2), CAST(o AS datetime) FROM at") == [
        (date(2026, 11, 23), datetime(2026, 11, 23, 1), datetime(2026, 11, 23, 1))
    ]
    assert sql(
        "SELECT 1 FROM at WHERE o = CAST('2026-11-22 23:00' AS datetime2) AND o < GETDATE() + 9999 "
        "AND o BETWEEN CAST('2026-11-22' AS date) AND CAST('2026-11-23' AS datetime)"
    ) == [(1,)]
    assert sql(
        "SELECT MAX(o), SWITCHOFFSET(MAX(o), '+00:00'), SWITCHOFFSET(MAX(o), 60) FROM at"
    ) == [
        (
            datetime(2026, 11, 23, 1, tzinfo=east),
            datetime(2026, 11, 22, 23, tzinfo=UTC),
            datetime(2026, 11, 23, 0, tzinfo=timezone(timedelta(hours=1))),
        )
    ]
    assert sql(
        "SELECT DATETRUNC(week, CAST('2026-11-25T10:11:12' AS datetime2)), "
        "DATETRUNC(hour, CAST('2026-11-25T10:11:12' AS datetime)), "
        "DATETRUNC(month, CAST('2026-11-25' AS date))"
    ) == [(datetime(2026, 11, 22), datetime(2026, 11, 25, 10), date(2026, 11, 1))]
    assert sql.error("SELECT DATETRUNC(hour, CAST('2026-11-25' AS date))") == 9810


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("FORMAT(CAST('2026-01-05T14:03:09.123' AS datetime2), 'yyyy-MM-dd HH:mm:ss.fff')",
         "2026-01-05 14:03:09.123"),
        ("FORMAT(CAST('2026-01-05' AS date), 'd')", "1/5/2026"),
        ("FORMAT(CAST('2026-01-05' AS date), 'D', 'en-US')", "Monday, January 5, 2026"),
        ("FORMAT(CAST('2026-01-05T14:03:09' AS datetime), 'ddd d MMM yy h:mm tt')",
         "Mon 5 Jan 26 2:03 PM"),
        ("FORMAT(1234567.891, 'N')", "1,234,567.89"),
        ("FORMAT(-1234.5, '#,##0.00')", "-1,234.50"),
        ("FORMAT(0.256, '0.0%')", "25.6%"),
        ("FORMAT(7, '000') + FORMAT(255, 'X') + FORMAT(5, 'D3')", "007FF005"),
        ("ISJSON('{\"a\": 1}') * 10 + ISJSON('1') + ISJSON('1', VALUE) * 100", 110),
        ("JSON_VALUE('{\"a\": {\"b c\": [10, \"x\"]}}', '$.a.\"b c\"[1]')", "x"),
        ("JSON_VALUE('{\"a\": {}}', '$.a')", None),
        ("JSON_QUERY('{\"a\": { \"b\":  [1] }}', '$.a')", '{ "b":  [1] }'),
        ("JSON_PATH_EXISTS('{\"a\": 1}', '$.a') * 10 + JSON_PATH_EXISTS('{\"a\": 1}', '$.b')", 10),
        ("GREATEST(1, NULL, 3) * 10 + LEAST(2, 5)", 32),
        ("CASE WHEN CAST('16' AS varchar(2)) > 15 THEN 1 END", 1),
        ("CHECKSUM(NEWID()) * 0 + RAND() * 0 + RAND(CHECKSUM(NEWID())) * 0", 0),
    ],
)  # fmt: skip
def test_functions(sql: Sql, expression: str, expected: object) -> None:
    assert sql(f"SELECT {expression}") == [(expected,)]


def test_default_constraints(sql: Sql) -> None:
    sql("CREATE TABLE t (a int DEFAULT 1, b int CONSTRAINT DF_b DEFAULT (2), c int)")
    shown = sql(
        "SELECT COL_NAME(parent_object_id, parent_column_id), name, definition, is_system_named "
        "FROM sys.default_constraints WHERE parent_object_id = OBJECT_ID('t') ORDER BY 1"
    )
    assert shown[0][1].startswith("DF__t__a__")
    assert shown[1] == ("b", "DF_b", "(2)", False)
    assert sql("SELECT OBJECT_NAME(OBJECT_ID('DF_b', 'D'))") == [("DF_b",)]
    assert sql.error("ALTER TABLE t DROP COLUMN b") == 5074
    assert sql.error("ALTER TABLE t ADD CONSTRAINT DF_x DEFAULT 3 FOR b") == 1781
    assert sql.error("ALTER TABLE t ADD CONSTRAINT DF_b DEFAULT 3 FOR c") == 2714
    assert sql.error("ALTER TABLE t DROP CONSTRAINT missing") == 3728
    sql("EXEC sp_rename 'DF_b', 'DF_new'")
    sql(f"ALTER TABLE t DROP CONSTRAINT DF_new, [{shown[0][1]}]")
    sql("ALTER TABLE t ADD DEFAULT 5 FOR b INSERT INTO t (c) VALUES (9)")
    assert sql("SELECT a, b, c FROM t") == [(None, 5, 9)]
    sql("DROP TABLE t CREATE TABLE t (b int CONSTRAINT DF_new DEFAULT 2)")


def test_a_view_outlives_its_table(sql: Sql) -> None:
    sql("CREATE TABLE t (id int, a int) INSERT t VALUES (1, 2)")
    for view in ("CREATE VIEW v AS SELECT id, a FROM t", "CREATE VIEW w AS SELECT id FROM v"):
        sql(view)
    sql("ALTER TABLE t ALTER COLUMN id bigint")
    assert sql("SELECT id FROM w") == [(1,)]
    sql("DROP TABLE t")
    assert sql.error("SELECT id FROM w") == 208
    assert sql("SELECT name FROM sys.views ORDER BY name") == [("v",), ("w",)]
    sql("CREATE TABLE t (a int, id int) INSERT t VALUES (3, 4)")
    assert sql("SELECT id FROM w") == [(4,)]
    sql("ALTER VIEW v AS SELECT a AS id FROM t")
    assert sql("SELECT id FROM w") == [(3,)]
    sql("CREATE TABLE child (id int PRIMARY KEY) CREATE TABLE held (c int REFERENCES child (id))")
    assert sql.error("DROP TABLE child") == 3726


def test_system_procedures(sql: Sql) -> None:
    sql(SETUP)
    sql("CREATE TABLE line (o int CONSTRAINT FK_line REFERENCES orders (id))")
    found = sql.sets("EXEC sp_help 'dbo.orders'")
    assert found[0][0][:3] == ("orders", "dbo", "user table")
    assert [row[:2] for row in found[1]] == [
        ("id", "int"), ("customer", "nvarchar"), ("amount", "decimal"),
    ]  # fmt: skip
    assert found[3] == [("PK_orders", "clustered, unique, primary key", "id")]
    assert ("default constraint", "DF_amount", "(0)") in found[4]
    assert found[5] == [("line: FK_line",)]
    assert ("orders", "dbo", "user table") in sql("EXEC sp_help")
    assert sql.error("EXEC sp_help 'missing'") == 15009
    (spid,) = sql("SELECT @@SPID")[0]
    assert [row[:4] for row in sql(f"EXEC sp_who '{spid}'")] == [(spid, 0, "running", "sa")]
    assert sql("SELECT table_name FROM INFORMATION_SCHEMA.CONSTRAINT_TABLE_USAGE "
               "WHERE constraint_name = 'PK_orders'") == [("orders",)]  # fmt: skip
