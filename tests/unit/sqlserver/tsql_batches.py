"""T-SQL to fuzz the stand-in with, and a session over a PostgreSQL that only records."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from psycopg.pq.abc import PGresult
from psycopg.sql import Composable

from labctl.sqlserver.backend.columns import Catalog, TypeMap
from labctl.sqlserver.backend.connection import Backend, sent
from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.session.executor import Executor
from labctl.sqlserver.session.interpreter import Interpreter
from labctl.sqlserver.session.reply import Reply
from labctl.sqlserver.session.session_state import Scope, Session
from labctl.sqlserver.session.transactions import Transactions
from labctl.sqlserver.tsql.lexer import tokenize, unquote
from labctl.sqlserver.wire.packet import MessageWriter
from tests.unit.sqlserver.postgres_grammar import check

__all__ = ["DATABASE", "Outcome", "batch", "run_batch"]

DATABASE = "fuzz"

# ---- what a batch is made of

_HOSTILE = [
    "x*/ COPY (SELECT 1) TO PROGRAM 'id' --", 'pg_catalog"."pg_read_file"(\'/f\') --',
    "mssql.a(), pg_read_file", "mssql.len", "pg_sleep(1)", "fn_cdc_x(), pg_read_file",
    "regclass", "foo), pg_read_file(", "/*columns*/", "--", ";", "'", "\"", "]", "\\", "$1", "{}",
    "{0}", "%s", "%1$s", "$$", "$body$", "new", "old", "ctid", "select", "pg_temp", "mssql",
    "pg_catalog", "a.b", "é\u2028", "\u0130", "1) CACHE (2", "#t", "##t", "@t", " ", "\n", "\r",
    "x'); DROP TABLE y; --", "E'\\'", "U&\"d\\0061t\"", "0", "x" * 70,
]  # fmt: skip
_PLAIN = ["a", "b", "id", "t", "u", "Kunde", "crm", "dbo", "sys", "cdc", "tempdb"]
_FUNCTIONS = [
    "LEN", "UPPER", "COUNT", "SUM", "MAX", "ISNULL", "COALESCE", "CONCAT", "GETDATE", "IIF",
    "DATEADD", "DATEDIFF", "SUBSTRING", "OBJECT_ID", "IDENT_CURRENT", "QUOTENAME", "ROUND",
    "pg_read_file", "lo_import", "set_config", "currval", "DB_NAME", "CHOOSE", "STRING_AGG",
    "REPLACE", "SERVERPROPERTY", "HASHBYTES", "NEWID", "sys.fn_cdc_get_max_lsn",
    "sys.fn_cdc_is_bit_set",
]  # fmt: skip
_TYPES = [
    "int", "bigint", "bit", "nvarchar(10)", "varchar(max)", "decimal(8, 2)", "datetime2(3)", "date",
    "uniqueidentifier", "varbinary(5)", "float", "money", "sysname", "xml", "[int]", "regclass",
    "text", "char", "varchar(x)", "decimal(a)", "national character varying(3)", "pg_lsn[]",
]  # fmt: skip


_EXPRESSIONS = """
({e} + {e})
{e} = {e}
{e} - -{e}
{function}({e})
{function}({e}, {e})
{function}({e}, {e}, {e})
{function}()
{function}(*)
CAST({e} AS {type})
TRY_CAST({e} AS {type})
CONVERT({type}, {e}, {literal})
CASE WHEN {e} = {e} THEN {e} ELSE {e} END
CASE {e} WHEN {e} THEN {e} END
{e} LIKE {string} ESCAPE {string}
{e} LIKE {e}
{e} IN ({e}, {literal})
{e} IS NOT NULL
{e} BETWEEN {e} AND {e}
EXISTS (SELECT {e} FROM {dotted})
(SELECT TOP 1 {e} FROM {dotted} ORDER BY {e})
{e} COLLATE {name}
{e} COLLATE Latin1_General_BIN2
NOT {e}
{function}({e}) OVER (PARTITION BY {e} ORDER BY {e} ROWS UNBOUNDED PRECEDING)
{dotted}.{name}({e})
""".strip().splitlines()
_COLUMNS = """
{name} {type} {option}
{name} {type} DEFAULT ({e})
{name} {type} CHECK ({e} = {e})
{name} {type} CHECK ({e})
{name} int CONSTRAINT {name} DEFAULT {literal}
{name} int REFERENCES {dotted} ({name}) ON DELETE {name}
{name} int REFERENCES {dotted} ON UPDATE SET NULL
CONSTRAINT {name} PRIMARY KEY ({name} DESC, {name})
CONSTRAINT {name} FOREIGN KEY ({name}) REFERENCES {dotted}
CHECK ({e} = {e})
""".strip().splitlines()
_OPTIONS = [
    "", "NOT NULL", "IDENTITY", "IDENTITY(5, -2)", "IDENTITY(1, 0)", "PRIMARY KEY", "ROWGUIDCOL",
    "IDENTITY(1); COPY (SELECT 1) TO PROGRAM 'id' --, 1)", "IDENTITY(1 CACHE (1), 1)",
    "UNIQUE CLUSTERED", "COLLATE Latin1_General_BIN2",
]  # fmt: skip
_PROCEDURES = [
    "sp_rename", "sp_columns", "sp_tables", "sys.sp_cdc_enable_db", "sys.sp_cdc_enable_table",
    "sp_executesql", "sp_helptext", "sp_pkeys", "sp_prepare", "sp_execute", "sp_prepexec",
    "sp_unprepare",
]  # fmt: skip
_MATCHED = """
WHEN MATCHED THEN UPDATE SET {name} = {e} WHEN NOT MATCHED THEN INSERT ({name}) VALUES ({e})
WHEN MATCHED AND {c} THEN DELETE
WHEN NOT MATCHED BY SOURCE THEN DELETE
""".strip().splitlines()
_NUMBERS = ["0", "1", "-1", "1.5", ".5", "1.", "1e5", "1E-400", "9" * 40, "0x", "0xABC", "$5",
            "NULL", "DEFAULT", "0x00FF", "1_000"]  # fmt: skip
_VARIABLES = ["@a", "@b", "@none", "@@ROWCOUNT", "@@VERSION", "@@none", "@t"]
_STATEMENTS = """
SELECT {e}
SELECT {e} AS {name}, * FROM {dotted} AS {name} WHERE {c}
SELECT {name}.* FROM {dotted} {name} JOIN {dotted} ON {c} ORDER BY {e} DESC
SELECT DISTINCT TOP 5 {e} FROM {dotted} WITH (TABLOCK) GROUP BY {e} HAVING {c}
SELECT {e} FROM {dotted}({e}, {e})
SELECT {e} INTO {dotted} FROM {dotted}
SELECT {e} FROM {dotted} UNION ALL SELECT {e} ORDER BY {name}
WITH {name} AS (SELECT {e} AS {name}) SELECT * FROM {name}
WITH {name} ({name}) AS (SELECT {e}) INSERT INTO {dotted} SELECT {e} FROM {name}
SELECT @a = {e}
SELECT {e} FROM {dotted} ORDER BY {e} OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY
SELECT * FROM {dotted} CROSS APPLY STRING_SPLIT({e}, {string})
SELECT * FROM OPENJSON({e}) WITH ({name} {type} {string})
INSERT INTO {dotted} ({name}, {name}) VALUES ({e}, {e})
INSERT {dotted} DEFAULT VALUES
INSERT INTO {dotted} VALUES ({e})
INSERT INTO {dotted} EXEC {procedure} {literal}
INSERT INTO {dotted} ({name}) OUTPUT inserted.{name}, {e} INTO {dotted} VALUES ({e})
UPDATE {dotted} SET {name} = {e}, {name} += {e} WHERE {c}
UPDATE TOP (3) {dotted} SET {name} = {e}
UPDATE {name} SET {name} = {e} OUTPUT deleted.{name} FROM {dotted} {name} JOIN {dotted} ON {c}
DELETE FROM {dotted} WHERE {c}
DELETE {name} FROM {dotted} AS {name} WHERE {c}
DELETE TOP (2) FROM {dotted}
MERGE {dotted} AS {name} USING {dotted} AS {name} ON {c} {matched} OUTPUT $action, inserted.{name};
CREATE TABLE {dotted} ({columns})
CREATE TABLE #{name} ({columns})
ALTER TABLE {dotted} ADD {column}
ALTER TABLE {dotted} DROP COLUMN IF EXISTS {name}
ALTER TABLE {dotted} ALTER COLUMN {name} {type} NOT NULL
ALTER TABLE {dotted} WITH NOCHECK ADD CONSTRAINT {name} CHECK ({c})
ALTER TABLE {dotted} ADD CONSTRAINT {name} DEFAULT {e} FOR {name}
DROP TABLE IF EXISTS {dotted}, {dotted}
DROP VIEW {dotted}
DROP PROCEDURE {dotted}
TRUNCATE TABLE {dotted}
CREATE SCHEMA {name}
DROP SCHEMA IF EXISTS {name}
CREATE DATABASE {name}
DROP DATABASE {name}
ALTER DATABASE {name} SET READ_COMMITTED_SNAPSHOT ON
CREATE UNIQUE INDEX {name} ON {dotted} ({name} DESC) INCLUDE ({name}) WHERE {c}
DROP INDEX IF EXISTS {name} ON {dotted}
CREATE VIEW {dotted} ({name}) AS SELECT {e} FROM {dotted}
CREATE OR ALTER PROCEDURE {dotted} @a {type} AS SELECT {e}
EXEC {procedure} {literal}, {e}
EXEC {procedure} {literal}, {string}, {string}, {literal}
EXEC {procedure}
EXEC @a = {procedure} @p = {literal}, @a = @a OUTPUT
EXEC ({string})
EXEC sp_executesql {string}, N'@x int', @x = {literal}
DECLARE @v {type} = {e} SELECT @v
DECLARE @t TABLE ({columns}) INSERT INTO @t SELECT {e}
SET @a = {e}
SET @a += {e}
SET IDENTITY_INSERT {dotted} ON
SET LOCK_TIMEOUT {literal}
SET NOCOUNT ON
SET TRANSACTION ISOLATION LEVEL {name}
SET TRANSACTION ISOLATION LEVEL SNAPSHOT
BEGIN TRAN {name}
SAVE TRAN {name}
ROLLBACK TRAN {name}
COMMIT
USE {name}
IF {c} SELECT {e} ELSE PRINT {e}
WHILE {c} BREAK
PRINT {e}
GRANT {name} ON {name} TO {name}
RAISERROR({string}, 16, 1, {literal})
THROW 50001, {string}, 1
BEGIN TRY SELECT {e} END TRY BEGIN CATCH SELECT {e} END CATCH
RETURN {e}
{e}
""".strip().splitlines()
_GAPS = [
    " ", "\n", ";", " -- */ ; COPY (SELECT 1) TO PROGRAM 'id'\n", " /* /* */ -- */ ", "\t",
    " /*drop:x*/ ", "\0",
]  # fmt: skip
_DEEPEST = 3
_HOLE = re.compile(r"\{(\w+)\}")


class _Writer:
    """Writes T-SQL by chance: templates whose holes are filled, each for itself."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._depth = 0

    def fill(self, template: str) -> str:
        """A template with each `{kind}` drawn."""
        return _HOLE.sub(lambda hole: str(getattr(self, f"_{hole[1]}")()), template)

    def _pick(self, choices: Sequence[str]) -> str:
        return self._chance.choice(choices)

    def _text(self) -> str:
        """A raw name: plain, hostile, or any characters."""
        kind = self._chance.random()
        if kind < 0.8:
            return self._pick(_PLAIN if kind < 0.3 else _HOSTILE)
        ends = (0x7F, 0x7FF, 0xD7FF, 0x10FFFF)
        points = [self._chance.randint(1, self._chance.choice(ends)) for _ in range(6)]
        return "".join(chr(p) for p in points if not 0xD800 <= p <= 0xDFFF)

    def _name(self) -> str:
        kind = self._chance.random()
        if kind < 0.4:
            return self._pick(_PLAIN)
        if kind < 0.7:
            return "[" + self._text().replace("]", "]]") + "]"
        return '"' + self._text().replace('"', '""') + '"'

    def _dotted(self) -> str:
        return ".".join(self._name() for _ in range(self._chance.choice((1, 1, 2, 3))))

    def _string(self) -> str:
        return self._pick(("'", "N'")) + self._text().replace("'", "''") + "'"

    def _literal(self) -> str:
        return self._string() if self._chance.random() < 0.5 else self._pick(_NUMBERS)

    def _type(self) -> str:
        return self._pick(_TYPES) if self._chance.random() < 0.8 else self._name()

    def _function(self) -> str:
        return self._pick(_FUNCTIONS) if self._chance.random() < 0.8 else self._name()

    def _e(self) -> str:
        if self._depth >= _DEEPEST or self._chance.random() < 0.4:
            kind = self._chance.randrange(3)
            return (self._literal, self._dotted, lambda: self._pick(_VARIABLES))[kind]()
        self._depth += 1
        try:
            return self.fill(self._pick(_EXPRESSIONS))
        finally:
            self._depth -= 1

    def _c(self) -> str:
        return self.fill(self._pick(("{e} = {e}", "{e} < {e} AND {e} IS NULL", "{e}")))

    def _column(self) -> str:
        return self.fill(self._pick(_COLUMNS))

    def _columns(self) -> str:
        return ", ".join(self._column() for _ in range(self._chance.randint(1, 3)))

    def _option(self) -> str:
        return self._pick(_OPTIONS)

    def _matched(self) -> str:
        return self.fill(self._pick(_MATCHED))

    def _procedure(self) -> str:
        return self._pick(_PROCEDURES) if self._chance.random() < 0.6 else self._dotted()

    def batch(self) -> str:
        """One or two statements; some have a comment, or a hostile piece, anywhere."""
        text = self.fill(self._pick(_STATEMENTS))
        if self._chance.random() < 0.2:
            text += self._pick(_GAPS) + self.fill(self._pick(_STATEMENTS))
        if self._chance.random() < 0.25:
            at = self._chance.randint(0, len(text))
            piece = self._pick((self._pick(_GAPS), self._pick(_HOSTILE), self._literal()))
            text = text[:at] + piece + text[at + self._chance.randint(0, 3) :]
        return text


def batch(chance: random.Random) -> str:
    """A batch of T-SQL, much of it hostile and some of it broken."""
    return _Writer(chance).batch()


# ---- a session whose PostgreSQL only records


class _Recorder:
    """Takes a `Backend`'s place: it keeps what it is sent, and answers with some value."""

    pid = 1
    in_failed_transaction = False

    def __init__(self, seed: str) -> None:
        self.sent: list[str] = []
        self._chance = random.Random(seed)  # noqa: S311 - answers, not secrets

    async def simple(self, sql: Composable) -> list[PGresult]:
        self._keep(sql)
        return []

    async def rows(
        self, sql: Composable, parameters: Sequence[str | None] = ()
    ) -> list[tuple[str | None, ...]]:
        self._keep(sql)
        answer = self._chance.choice(["0", "1", None])
        return [(answer, "1")]

    async def stream(
        self, sql: Composable, parameters: Sequence[str | None] = (), *, whole: bool = False
    ) -> AsyncIterator[PGresult]:
        self._keep(sql)
        for none in cast(list[PGresult], []):
            yield none

    def _keep(self, sql: Composable) -> None:
        self.sent.append(sent(sql).decode())
        if len(self.sent) > 50:
            raise SqlError(50000, "enough")


class _Nowhere:
    """A writer that nobody reads from."""

    def write(self, data: bytes) -> None: ...

    async def flow(self) -> None: ...


@dataclass
class Outcome:
    """What became of a batch: the SQL it was sent as, and the SQL that PostgreSQL would parse."""

    sent: int = 0
    parsed: int = 0
    refused: bool = False
    errors: list[int] = field(default_factory=list)


def run_batch(loop: asyncio.AbstractEventLoop, text: str) -> Outcome:
    """Run a batch over a recording PostgreSQL and check all that was sent.

    Raises `EscapeError` for what may not be sent, and whatever the interpreter should not raise.
    """
    recorder = _Recorder(text)
    backend = cast(Backend, recorder)
    session = Session(51, "STANDIN", "sa", DATABASE, 5)
    transactions = Transactions(backend, session)
    executor = Executor(session, backend, transactions, TypeMap({}), Catalog(backend))
    reply = Reply(cast(MessageWriter, _Nowhere()), "STANDIN")
    loop.run_until_complete(Interpreter(executor, 0.0).batch(text, Scope(), reply))
    outcome = Outcome(sent=len(recorder.sent), refused=session.last_error != 0)
    names = _names_in(text)
    for sql in recorder.sent:
        outcome.parsed += check(sql, names)
    return outcome


def _names_in(text: str) -> set[str]:
    """The names a batch mentions, with those that are there without being named."""
    try:
        tokens: Any = tokenize(text)
    except SqlError:
        tokens = []
    named = {unquote(t.text) for t in tokens if t.kind != "operator"}
    inner: set[str] = set()
    for value in [unquote(t.text) for t in tokens if t.kind == "string"]:
        if value != text:
            inner |= _names_in(value)
    return {DATABASE, "1", "dbo", "sys", "cdc", ""} | named | inner
