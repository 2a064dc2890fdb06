"""Telling T-SQL statements apart, and what they become."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.sqltypes import SqlType, parse_type
from labctl.sqlserver.tsql.ddl import definition
from labctl.sqlserver.tsql.lexer import tokenize
from labctl.sqlserver.tsql.parser import parse_batch
from labctl.sqlserver.tsql.script import Call, Command, If, Query, TryCatch
from labctl.sqlserver.tsql.translate import query


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SELECT 1 SELECT 2", 2),
        ("SELECT 1 UNION ALL SELECT 2 EXCEPT SELECT 3", 1),
        ("WITH a AS (SELECT 1 x), b(y) AS (SELECT 2) SELECT * FROM a WITH (NOLOCK)", 1),
        ("INSERT INTO t (a) SELECT 1 EXEC p SELECT 3", 3),
        ("UPDATE t SET a = 1 WHERE b = CASE WHEN 1 = 1 THEN 2 ELSE 3 END SELECT 1", 2),
        ("CREATE TABLE t (a int REFERENCES b ON DELETE SET NULL) SET NOCOUNT ON", 2),
        ("ALTER TABLE t DROP COLUMN c ALTER TABLE t ALTER COLUMN d int", 2),
        ("DROP TABLE IF EXISTS t IF 1 = 1 PRINT 'a' ELSE PRINT 'b'", 2),
        ("MERGE t USING s ON 1 = 1 WHEN MATCHED THEN UPDATE SET a = 1; SELECT 1", 2),
        ("GRANT SELECT, INSERT ON t TO u SELECT 1", 2),
        ("SET NOCOUNT ON\nINSERT INTO t (a) VALUES (1)\nSELECT SCOPE_IDENTITY()", 3),
        (
            "SET NOCOUNT ON DELETE FROM t SET NOCOUNT OFF MERGE t USING s ON 1 = 1 "
            "WHEN MATCHED THEN DELETE",
            4,
        ),
        ("/* a /* nested */ comment */ SELECT 'it''s' -- SELECT 2\n SELECT [a]]b]", 2),
        ("DECLARE @a int = 1, @b varchar(10) SET @a += 1 SELECT @a", 3),
        (";;", 0),
    ],
)
def test_statements_are_told_apart(text: str, count: int) -> None:
    assert len(parse_batch(text)) == count


@pytest.mark.parametrize("name", ["a$b", "#a$b", "##a#b", "$a$b"])
def test_a_name_is_one_token_as_it_is_to_the_translator(name: str) -> None:
    """Two readers that part a text differently would see different names."""
    assert [token.text for token in tokenize(f"{name} x")] == [name, "x"]


def test_the_tree() -> None:
    nodes = parse_batch(
        "IF @@TRANCOUNT = 0 BEGIN BEGIN TRAN IF @@TRANCOUNT = 2 COMMIT TRAN END SAVE TRAN [s] "
        "BEGIN TRY SELECT 1 END TRY BEGIN CATCH THROW END CATCH EXEC @r = a.b.c 1, @x = N'y' OUTPUT"
    )
    assert [type(n) for n in nodes] == [If, Command, TryCatch, Call]
    call = nodes[-1]
    assert isinstance(call, Call)
    assert (call.procedure, call.result) == ("a.b.c", "@r")
    assert [(a.name, a.text, a.output) for a in call.arguments] == [
        (None, "1", False), ("@x", "N'y'", True),
    ]  # fmt: skip


@given(st.text(max_size=80))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        parse_batch(text)
    except SqlError:
        return


@given(
    st.lists(
        st.sampled_from(
            [
                "SELECT",
                "FROM",
                "WHERE",
                "BEGIN",
                "END",
                "IF",
                "ELSE",
                "(",
                ")",
                ",",
                ";",
                "SET",
                "@a",
                "=",
                "1",
                "'x'",
                "INSERT",
                "INTO",
                "t",
                "VALUES",
                "WITH",
                "AS",
                "EXEC",
                "UPDATE",
                "CASE",
                "WHEN",
                "THEN",
                "DECLARE",
                "int",
                "TRY",
                "CATCH",
                "TRAN",
            ]
        ),
        max_size=25,
    )
)
def test_any_words_are_parsed_or_refused(words: list[str]) -> None:
    try:
        for node in parse_batch(" ".join(words)):
            if isinstance(node, Query) and node.verb == "SELECT":
                query(node.text, "db", {"@a": SqlType("int")})
    except SqlError:
        return


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("SELECT TOP 2 a FROM t ORDER BY a",
         'SELECT "a" FROM "db.dbo"."t" ORDER BY "a" NULLS FIRST LIMIT 2'),
        ("SELECT x.A FROM [other].crm.[User] AS x",
         'SELECT "x"."a" FROM "other.crm"."user" AS "x"'),
        ("DELETE FROM t OUTPUT deleted.a WHERE a = 1",
         'DELETE FROM "db.dbo"."t" WHERE ("a" = 1) RETURNING "old"."a"'),
        ("SELECT sys.fn_cdc_get_max_lsn()", "SELECT mssql.fn_cdc_get_max_lsn('db')"),
        ("SELECT N'a' + 'b'", "SELECT 'a' + 'b'"),
    ],
)  # fmt: skip
def test_translation(text: str, sql: str) -> None:
    assert query(text, "db", {}).sql.as_string(None) == sql


@pytest.mark.parametrize(
    ("declared", "pg"),
    [
        ("nvarchar(max)", "mssql.nvarchar"), ("VARCHAR(10)", "varchar(10)"),
        ("decimal(8, 2)", "numeric(8,2)"), ("[int]", "int4"), ("datetime2", "timestamp"),
        ("datetime2(3)", "timestamp(3)"), ("float(24)", "float4"), ("text", "varchar"),
        ("national character varying(5)", "mssql.nvarchar(5)"), ("sysname", "mssql.nvarchar(128)"),
    ],
)  # fmt: skip
def test_types(declared: str, pg: str) -> None:
    assert parse_type(declared).pg == pg


@pytest.mark.parametrize(
    ("declared", "number"),
    [("nonsense", 243), ("varchar(9000)", 131), ("decimal(39)", 1007), ("xml", 40517)],
)
def test_types_that_do_not_exist(declared: str, number: int) -> None:
    with pytest.raises(SqlError) as caught:
        parse_type(declared)
    assert caught.value.number == number


def test_the_real_servers_script_is_understood() -> None:
    """Filegroups and storage options belong to real SQL Server; they are read and left out."""
    for text in (
        "ALTER DATABASE tickit ADD FILEGROUP cdc_fg",
        "ALTER DATABASE tickit ADD FILE (NAME = cdc, FILENAME = '/var/opt/mssql/data/cdc.ndf', "
        "SIZE = 64MB) TO FILEGROUP cdc_fg",
        "ALTER DATABASE tickit SET RECOVERY SIMPLE",
    ):
        assert definition(text, "tickit") == []
    made = definition(
        "CREATE TABLE crm.[user] (userid int NOT NULL, name nvarchar(max) NULL, CONSTRAINT pk_user "
        "PRIMARY KEY CLUSTERED (userid ASC) WITH (PAD_INDEX = OFF) ON [PRIMARY]) ON [PRIMARY] "
        "TEXTIMAGE_ON [PRIMARY]",
        "tickit",
    )
    assert (
        made[0]
        .as_string(None)
        .startswith('CREATE TABLE "tickit.crm"."user" ("userid" int4 NOT NULL')
    )
