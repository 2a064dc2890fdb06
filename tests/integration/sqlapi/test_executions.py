"""Executions through boto3, with `endpoint_url` as the only difference from AWS."""

from __future__ import annotations

import time
from uuid import uuid4

import pytest
from botocore.exceptions import ClientError

from tests.integration.sqlapi.conftest import BUCKET, OUTPUT, Athena, Endpoint


def test_a_query_answers_with_names_types_and_null(athena: Athena) -> None:
    id_ = athena.start("SELECT id, price, note, at, day FROM sale ORDER BY id")
    execution = athena.ended(id_)
    assert execution["Status"]["State"] == "SUCCEEDED", execution["Status"]
    assert execution["StatementType"] == "DML"
    assert execution["ResultConfiguration"]["OutputLocation"] == f"{OUTPUT}{id_}.csv"
    answer = athena.client.get_query_results(QueryExecutionId=id_)
    rows = [[d.get("VarCharValue") for d in r["Data"]] for r in answer["ResultSet"]["Rows"]]
    assert rows == [
        ["id", "price", "note", "at", "day"],
        ["1", "10.50", 'a,"b"', "2024-03-01 14:07:09.123", "2024-03-01"],
        ["2", "3.25", "", "2024-03-02 14:07:09.123", "2024-03-02"],
        ["3", None, None, "2024-03-03 14:07:09.123", None],
    ]
    info = answer["ResultSet"]["ResultSetMetadata"]["ColumnInfo"]
    assert [c["Type"] for c in info] == ["integer", "decimal", "varchar", "timestamp", "date"]


def test_the_result_file_is_what_athena_writes(athena: Athena, endpoint: Endpoint) -> None:
    id_ = athena.start("SELECT id, note FROM sale ORDER BY id")
    athena.ended(id_)
    body = endpoint.client("s3").get_object(Bucket=BUCKET, Key=f"results/{id_}.csv")["Body"].read()
    assert body.decode() == '"id","note"\n"1","a,""b"""\n"2",""\n"3",\n'


def test_joins_groups_and_the_types_of_sums(athena: Athena) -> None:
    assert athena.rows(
        """SELECT c.name, sum(s.price * s.qty) AS total, count(*) n, avg(s.price)
           FROM sale s LEFT JOIN category c ON s.categoryid = c.id
           GROUP BY c.name ORDER BY total DESC"""
    ) == [["Musicals", "21.00", "2", "10.50"], ["Öper", "3.25", "1", "3.25"]]


def test_pages(athena: Athena) -> None:
    id_ = athena.start("SELECT n FROM many ORDER BY n")
    athena.ended(id_)
    pages = athena.client.get_paginator("get_query_results").paginate(QueryExecutionId=id_)
    values = [r["Data"][0]["VarCharValue"] for p in pages for r in p["ResultSet"]["Rows"]]
    assert values == ["n", *map(str, range(5000))]


def test_nested_columns(athena: Athena) -> None:
    assert athena.rows("SELECT a, s, s.x, cardinality(a) FROM shape ORDER BY 4 DESC") == [
        ["[1, 2]", "{x=1, y=p}", "1", "2"],
        ["[]", "{x=null, y=q}", None, "0"],
    ]


def test_merge_on_read_tables_have_three_names(athena: Athena) -> None:
    counts = [
        athena.rows(f"SELECT count(*) FROM {name}", "moma")[0][0]
        for name in ("artists", "artists_rt", "artists_ro")
    ]
    assert counts == ["2", "2", "1"]


def test_names_of_three_parts_and_quotes(athena: Athena) -> None:
    rows = athena.rows(
        'SELECT "Category"."NAME" FROM "AwsDataCatalog"."tickit"."category" WHERE id = 1'
    )
    assert rows == [["Musicals"]]
    assert "CATALOG_NOT_FOUND" in athena.error("SELECT * FROM other.tickit.sale")


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT nope FROM sale", "COLUMN_NOT_FOUND: line 1:8: Column 'nope' cannot be resolved"),
        ("SELECT * FROM nowhere", "TABLE_NOT_FOUND: Table 'awsdatacatalog.tickit.nowhere'"),
        ("SELECT approx_set(id) FROM sale", "FUNCTION_NOT_FOUND: Function 'approx_set' not"),
        ("SELECT id / 0 FROM sale", "DIVISION_BY_ZERO: Division by zero"),
        ("SELECT cast(note AS integer) FROM sale", "INVALID_CAST_ARGUMENT: Cannot cast"),
        ("SELECT id FROM sale WHERE id = '1'", "TYPE_MISMATCH: Cannot apply operator: integer ="),
        ("SELECT id, count(*) FROM sale", "EXPRESSION_NOT_AGGREGATE"),
        ("SELECT FROM sale", "SYNTAX_ERROR"),
        ("INSERT INTO sale VALUES (1)", "tickit.sale is a table of the lake: it is read only"),
        ("DELETE FROM sale", "DELETE is not supported"),
        ("DROP TABLE sale", "is a table of the lake: it is read only"),
        ("SELECT 1; SELECT 2", "Only one sql statement is allowed"),
        ("SELEC 1", "mismatched input 'selec'"),
    ],
)  # fmt: skip
def test_errors_say_what_is_wrong(athena: Athena, sql: str, reason: str) -> None:
    assert reason in athena.error(sql)


def test_a_stopped_query_has_ended_when_the_stop_is_answered(athena: Athena) -> None:
    id_ = athena.start("SELECT count(*) FROM many a, many b, many c WHERE a.n + b.n + c.n = 7")
    while (
        athena.client.get_query_execution(QueryExecutionId=id_)["QueryExecution"]["Status"]["State"]
        == "QUEUED"
    ):
        time.sleep(0.01)
    athena.client.stop_query_execution(QueryExecutionId=id_)
    assert athena.ended(id_)["Status"]["State"] == "CANCELLED"
    with pytest.raises(ClientError, match="Final query state: CANCELLED"):
        athena.client.get_query_results(QueryExecutionId=id_)
    # the engine is free again
    assert athena.rows("SELECT 1") == [["1"]]


def test_a_token_begins_one_execution(athena: Athena) -> None:
    token = str(uuid4())
    first = athena.start("SELECT 1", ClientRequestToken=token)
    assert athena.start("SELECT 1", ClientRequestToken=token) == first
    with pytest.raises(ClientError, match="Idempotent parameters do not match"):
        athena.start("SELECT 2", ClientRequestToken=token)


def test_execution_parameters(athena: Athena) -> None:
    sql = "SELECT id FROM sale WHERE note = ? AND id < ?"
    assert athena.rows(sql, ExecutionParameters=["''", "5"]) == [["2"]]
    assert "INVALID_PARAMETER_USAGE" in athena.error(sql, ExecutionParameters=["1"])
    assert "SYNTAX_ERROR" in athena.error(sql, ExecutionParameters=["1 FROM t --", "2"])


def test_results_are_reused_by_age(athena: Athena) -> None:
    reuse = {"ResultReuseByAgeConfiguration": {"Enabled": True, "MaxAgeInMinutes": 5}}
    sql = f"SELECT '{uuid4()}'"
    first = athena.ended(athena.start(sql, ResultReuseConfiguration=reuse))
    second = athena.ended(athena.start(sql, ResultReuseConfiguration=reuse))
    told = [
        e["Statistics"]["ResultReuseInformation"]["ReusedPreviousResult"] for e in (first, second)
    ]
    assert told == [False, True]
    assert athena.rows(sql, ResultReuseConfiguration=reuse) == [[sql.split("'")[1]]]


def test_batch_list_and_statistics(athena: Athena) -> None:
    ids = [athena.start("SELECT count(*) FROM sale") for _ in range(3)]
    for id_ in ids:
        athena.ended(id_)
    answer = athena.client.batch_get_query_execution(QueryExecutionIds=[*ids, "none"])
    assert {e["QueryExecutionId"] for e in answer["QueryExecutions"]} == set(ids)
    assert [u["QueryExecutionId"] for u in answer["UnprocessedQueryExecutionIds"]] == ["none"]
    listed = athena.client.list_query_executions(MaxResults=2)
    assert listed["QueryExecutionIds"] == ids[:0:-1]
    assert listed["NextToken"]
    told = athena.client.get_query_runtime_statistics(QueryExecutionId=ids[0])
    assert told["QueryRuntimeStatistics"]["Rows"]["InputRows"] == 3


def test_rows_that_a_condition_drops_are_not_read(athena: Athena) -> None:
    id_ = athena.start("SELECT note FROM sale WHERE id = ?", ExecutionParameters=["2"])
    athena.ended(id_)
    told = athena.client.get_query_runtime_statistics(QueryExecutionId=id_)
    assert told["QueryRuntimeStatistics"]["Rows"]["InputRows"] == 1
    assert athena.rows("SELECT count(*) FROM sale WHERE id > 1 AND qty = 4") == [["1"]]


def test_wrong_keys_and_unsigned_requests_are_refused(endpoint: Endpoint) -> None:
    import requests

    for options, code in (
        ({"aws_secret_access_key": "wrong"}, "InvalidSignatureException"),
        ({"aws_access_key_id": "nobody"}, "UnrecognizedClientException"),
    ):
        with pytest.raises(ClientError) as caught:
            endpoint.client("athena", **options).list_work_groups()
        assert caught.value.response["Error"]["Code"] == code
    answer = requests.post(endpoint.url, data="{}", timeout=5)
    assert answer.status_code == 403
    assert answer.json()["__type"] == "MissingAuthenticationTokenException"


def test_an_operation_that_is_not_offered(endpoint: Endpoint) -> None:
    with pytest.raises(ClientError) as caught:
        endpoint.client("athena").list_notebook_metadata(WorkGroup="primary")
    assert caught.value.response["Error"]["Code"] == "UnknownOperationException"
    assert endpoint.client("sts").get_caller_identity()["Account"] == "000000000000"
