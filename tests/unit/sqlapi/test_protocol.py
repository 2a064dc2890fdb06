"""Signatures, and which statement a text is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import MutableMapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from sqlapi.athena.statements import parse
from sqlapi.protocol.http_app import application
from sqlapi.protocol.protocol_errors import ApiError
from sqlapi.protocol.signature import Request, check
from sqlapi.settings import Settings
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.translate import with_parameters

KEYS = {"lab": "secret"}
URL = "http://127.0.0.1:8085/"


def _signed(body: bytes, *, key: str = "lab", secret: str = "secret") -> Request:  # noqa: S107
    made = AWSRequest("POST", URL, {"X-Amz-Target": "AmazonAthena.ListWorkGroups"}, body)
    made.headers["Host"] = "127.0.0.1:8085"
    SigV4Auth(Credentials(key, secret), "athena", "us-east-1").add_auth(made)
    headers = {name.lower(): str(value) for name, value in made.headers.items()}
    return Request("POST", URL, headers, body)


def _refused(request: Request, now: datetime | None = None) -> str:
    with pytest.raises(ApiError) as caught:
        check(request, KEYS, now=now)
    return caught.value.code


def test_signatures() -> None:
    request = _signed(b"{}")
    assert check(request, KEYS) == "lab"
    changed = Request("POST", URL, request.headers, b'{"MaxResults": 1}')
    assert _refused(changed) == "InvalidSignatureException"
    other = Request("POST", URL, {**request.headers, "x-amz-target": "AWSGlue.X"}, b"{}")
    assert _refused(other) == "InvalidSignatureException"
    wrong = _signed(b"{}", secret="x")  # noqa: S106
    assert _refused(wrong) == "InvalidSignatureException"
    assert _refused(_signed(b"{}", key="x")) == "UnrecognizedClientException"
    late = datetime.now(UTC) + timedelta(hours=1)
    assert _refused(request, late) == "InvalidSignatureException"
    assert _refused(Request("POST", URL, {}, b"")) == "MissingAuthenticationTokenException"
    bad = {**request.headers, "authorization": "AWS4-HMAC-SHA256 nonsense"}
    assert _refused(Request("POST", URL, bad, b"{}")) == "IncompleteSignatureException"


@pytest.mark.parametrize("header", ["x-amz-date", "x-amz-target"])
def test_what_decides_about_a_request_must_be_signed(header: str) -> None:
    request = _signed(b"{}")
    signed = request.headers["authorization"]
    unsigned = re.sub(rf"(SignedHeaders=[^,]*);{header}", r"\1", signed)
    assert unsigned != signed
    headers = {**request.headers, "authorization": unsigned}
    with pytest.raises(ApiError, match=f"'{header}' must be signed"):
        check(Request("POST", URL, headers, b"{}"), KEYS)


MEBIBYTE = bytes(1 << 20)


def _answered(headers: dict[str, str]) -> tuple[int, int]:
    """Return the status, and how many MiB of an endless body were read before it."""
    read, statuses = 0, []

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        assert read < 100, "the body is read without a limit"
        return {"type": "http.request", "body": MEBIBYTE, "more_body": True}

    async def send(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    settings = Settings(dsn="", keys=KEYS, output="")
    asyncio.run(application(settings, {})(scope, receive, send))
    (status,) = statuses
    return status, read


def test_a_body_is_not_read_for_whoever_does_not_sign() -> None:
    assert _answered({"host": "127.0.0.1:8085"}) == (403, 0)
    assert _answered({"host": "127.0.0.1:8085", "content-length": str(10**9)}) == (403, 0)
    stranger = _signed(b"{}", key="x")
    assert _answered(dict(stranger.headers)) == (400, 0)


def test_no_more_of_a_body_is_read_than_a_request_may_have() -> None:
    headers = dict(_signed(b"{}").headers)
    assert _answered({**headers, "content-length": str(10**9)}) == (413, 0)
    status, read = _answered({n: v for n, v in headers.items() if n != "content-length"})
    assert (status, read) == (413, 5)


@pytest.mark.parametrize(
    ("text", "verb", "names"),
    [
        ("-- a note\nSELECT 1;", "SELECT", ()),
        ("show tables in `db` 'a*'", "SHOW_TABLES", ("db",)),
        ('CREATE OR REPLACE VIEW "D".v AS SELECT 1', "CREATE_VIEW", ("d", "v")),
        ("CREATE TABLE a.b WITH (format = 'PARQUET', partitioned_by = ARRAY['x']) AS SELECT 1",
         "CREATE_TABLE_AS_SELECT", ("a", "b")),
        ("UNLOAD (SELECT (1)) TO 's3://b/k/' WITH (format = 'JSON')", "UNLOAD", ()),
        ("EXECUTE s USING 'a,b', 1", "EXECUTE", ("s",)),
        ("DROP DATABASE IF EXISTS x CASCADE", "DROP_DATABASE", ("x",)),
        ("describe formatted t", "DESCRIBE", ("t",)),
        ("msck repair table `d`.t", "MSCK_REPAIR", ("d", "t")),
        ("ALTER TABLE t DROP PARTITION (a = 1), PARTITION (a = -2)", "ALTER_TABLE", ("t",)),
        ("CREATE EXTERNAL TABLE d.t (a int) LOCATION 's3://b/k'", "CREATE_TABLE", ("d", "t")),
        ("INSERT INTO t (a, b) SELECT 1, 2", "INSERT", ("t",)),
        ("INSERT INTO t(SELECT 1)", "INSERT", ("t",)),
    ],
)  # fmt: skip
def test_statements(text: str, verb: str, names: tuple[str, ...]) -> None:
    statement = parse(text)
    assert (statement.verb, statement.names) == (verb, names)


def test_parts_of_statements() -> None:
    made = parse(
        "CREATE TABLE t WITH (format = 'PARQUET', partitioned_by = ARRAY['x', 'y']) AS SELECT 1"
    )
    assert made.options == {"format": "'PARQUET'", "partitioned_by": "ARRAY['x', 'y']"}
    assert made.query == "SELECT 1"
    assert parse("EXECUTE s USING 'a,b', f(1, 2)").values == ("'a,b'", "f(1, 2)")


def test_parts_of_an_external_table() -> None:
    made = parse(
        """CREATE EXTERNAL TABLE t (`Id` INTEGER COMMENT 'it''s', s struct<a:int,`b`:array<string>>,
             d decimal(10, 2)) -- a note
           PARTITIONED BY (day string) ROW FORMAT DELIMITED FIELDS TERMINATED BY '\\t'
           ESCAPED BY '\\\\' STORED AS TEXTFILE LOCATION 's3://b/k/'
           TBLPROPERTIES ("a" = 'b', 'c'='\\001')"""
    ).details
    assert made["columns"] == [
        {"Name": "id", "Type": "int", "Comment": "it's"},
        {"Name": "s", "Type": "struct<a:int,b:array<string>>"},
        {"Name": "d", "Type": "decimal(10,2)"},
    ]
    assert made["keys"] == [{"Name": "day", "Type": "string"}]
    assert made["delimited"] == {"field.delim": "\t", "escape.delim": "\\"}
    assert made["properties"] == {"a": "b", "c": "\x01"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "mismatched input"),
        ("ALTER TABLE t RENAME TO u", "ALTER TABLE … RENAME is not supported"),
        ("EXPLAIN ANALYZE SELECT 1", "EXPLAIN ANALYZE is not supported"),
        ("CREATE EXTERNAL TABLE t (a int", "mismatched input"),
        ("CREATE EXTERNAL TABLE t (a int) LOCATION 's3://b' LOCATION 's3://c'", "mismatched input"),
        ("CREATE TABLE t (a int) LOCATION 's3://b'", "must be EXTERNAL"),
        ("CREATE TABLE t (a int) TBLPROPERTIES ('table_type'='iceberg')", "Iceberg"),
        ("MERGE INTO t USING u ON true WHEN MATCHED THEN DELETE", "MERGE is not supported"),
    ],
)
def test_statements_that_are_refused(text: str, said: str) -> None:
    with pytest.raises(SqlError, match=said):
        parse(text)


def test_parameters_are_literals_in_their_places() -> None:
    sql = "SELECT '?' FROM t -- ?\nWHERE a = ? AND b = ?"
    made = with_parameters(sql, ["'x?'", "2"])
    assert made == "SELECT '?' FROM t -- ?\nWHERE a = 'x?' AND b = 2"
    for bad in (["1"], ["1", "2, 3"], ["1", "2 FROM u"], ["1", "2)"]):
        with pytest.raises(SqlError):
            with_parameters(sql, bad)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("2", "2"),
        ("'--'", "'--'"),
        ("NULL", "NULL"),
        ("true", "true"),
        ("current_date", "(current_date\n)"),
        ("filter(ARRAY[1], x -> x > 0)", "(filter(ARRAY[1], x -> x > 0)\n)"),
        ("-1", "(-1\n)"),
        ("0 OR true", "(0 OR true\n)"),
        ("3 -- and the rest", "3"),
        ("1 -- one\n + 2", "(1 -- one\n + 2\n)"),
        ("DATE '2020-01-01'", "(DATE '2020-01-01'\n)"),
        ("row(1, 2)", "(row(1, 2)\n)"),
    ],
)
def test_a_parameter_keeps_to_its_place(value: str, written: str) -> None:
    made = with_parameters("SELECT 10 - ? AND b", [value])
    assert made == f"SELECT 10 - {written} AND b"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "-- nothing",
        "?",
        "1) OR (true",
        "1) --",
        "1) UNION SELECT (2",
        "1 UNION SELECT 2",
        "SELECT 1",
        "1 WHERE true",
        "1 LIMIT 1",
        "1 x",
        "a",
        "t.a + 1",
        "all",
        "1; DROP VIEW v",
        "*",
        "'open",
    ],
)
def test_what_is_no_value_is_refused_as_a_parameter(value: str) -> None:
    with pytest.raises(SqlError):
        with_parameters("SELECT 10 - ?", [value])
