"""Views, CTAS, UNLOAD, prepared statements, SHOW and DESCRIBE."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from uuid import uuid4

import pytest
from pyarrow import parquet

from labctl.lab.catalog import athena_client as labctl_athena
from labctl.lab.catalog.athena_connection import Connection
from tests.integration.sqlapi.conftest import BUCKET, Athena, Endpoint


@pytest.fixture
def name() -> str:
    """A name of the test's own."""
    return f"t_{uuid4().hex[:8]}"


def _object(endpoint: Endpoint, uri: str) -> bytes:
    key = uri.removeprefix(f"s3://{BUCKET}/")
    body: bytes = endpoint.client("s3").get_object(Bucket=BUCKET, Key=key)["Body"].read()
    return body


def test_views_are_stored_as_presto_views(athena: Athena, endpoint: Endpoint, name: str) -> None:
    athena.rows(
        f"CREATE VIEW {name} AS SELECT id AS ID2, price * 2 AS twice FROM sale WHERE id < 3"
    )
    assert athena.rows(f"SELECT * FROM tickit.{name} ORDER BY id2", "default") == [
        ["1", "21.00"],
        ["2", "6.50"],
    ]
    table = endpoint.client("glue").get_table(DatabaseName="tickit", Name=name)["Table"]
    assert table["TableType"] == "VIRTUAL_VIEW"
    assert table["ViewOriginalText"].startswith("/* Presto View: ")
    columns = table["StorageDescriptor"]["Columns"]
    assert columns == [{"Name": "id2", "Type": "int"}, {"Name": "twice", "Type": "decimal(18,2)"}]
    assert "already exists" in athena.error(f"CREATE VIEW {name} AS SELECT 1 AS x")
    athena.rows(f"CREATE OR REPLACE VIEW {name} AS SELECT 1 AS x")
    assert athena.rows(f"SELECT * FROM {name}") == [["1"]]
    assert [name] in athena.rows("SHOW VIEWS")
    shown = athena.rows(f"SHOW CREATE VIEW {name}")
    assert shown == [[f"CREATE VIEW tickit.{name} AS"], ["SELECT 1 AS x"]]
    athena.rows(f"DROP VIEW {name}")
    assert "does not exist" in athena.error(f"DROP VIEW {name}")
    athena.rows(f"DROP VIEW IF EXISTS {name}")


def test_a_view_that_many_make_at_once_is_there_for_all(athena: Athena, name: str) -> None:
    """As two workers of an application do, which both miss it."""
    statement = f"CREATE OR REPLACE VIEW {name} AS SELECT 1 AS x"
    with ThreadPoolExecutor(8) as pool:
        made = [pool.submit(athena.rows, statement) for _ in range(24)]
    assert [future.result() for future in made] == [[]] * 24
    assert athena.rows(f"SELECT * FROM {name}") == [["1"]]


def test_a_view_over_nothing_is_refused(athena: Athena, name: str) -> None:
    assert "TABLE_NOT_FOUND" in athena.error(f"CREATE VIEW {name} AS SELECT * FROM nowhere")


def test_ctas_makes_a_table_of_parquet(athena: Athena, endpoint: Endpoint, name: str) -> None:
    execution = athena.ended(
        athena.start(f"CREATE TABLE {name} AS SELECT id, price, note, at, day FROM sale")
    )
    assert execution["Status"]["State"] == "SUCCEEDED", execution["Status"]
    assert execution["SubstatementType"] == "CREATE_TABLE_AS_SELECT"
    manifest = _object(endpoint, execution["Statistics"]["DataManifestLocation"]).decode()
    (file,) = manifest.splitlines()
    assert parquet.read_table(BytesIO(_object(endpoint, file))).num_rows == 3
    same = "SELECT id, price, note, at, day FROM {} ORDER BY id"
    assert athena.rows(same.format(name)) == athena.rows(same.format("sale"))
    assert "already exists" in athena.error(f"CREATE TABLE {name} AS SELECT 1 AS x")
    athena.rows(f"DROP TABLE {name}")
    assert "does not exist" in athena.error(f"SELECT * FROM {name}")


def test_ctas_keeps_nested_columns(athena: Athena, name: str) -> None:
    athena.rows(f"CREATE TABLE {name} AS SELECT a, s FROM shape")
    assert athena.rows(f"SELECT a, s.y FROM {name} ORDER BY s.y") == [["[1, 2]", "p"], ["[]", "q"]]


def test_ctas_by_partition(athena: Athena, endpoint: Endpoint, name: str) -> None:
    athena.rows(
        f"CREATE TABLE {name} WITH (format = 'PARQUET', partitioned_by = ARRAY['categoryid'])"
        " AS SELECT id, categoryid FROM sale"
    )
    assert athena.rows(f"SELECT id FROM {name} WHERE categoryid = 1 ORDER BY id") == [["1"], ["3"]]
    assert athena.rows(f"SHOW PARTITIONS {name}") == [["categoryid=1"], ["categoryid=2"]]
    found = endpoint.client("glue").get_partitions(
        DatabaseName="tickit", TableName=name, Expression="categoryid = 2"
    )
    assert [p["Values"] for p in found["Partitions"]] == [["2"]]


@pytest.mark.parametrize("kind", ["JSON", "TEXTFILE"])
def test_ctas_in_text_is_read_again(athena: Athena, name: str, kind: str) -> None:
    athena.rows(f"CREATE TABLE {name} WITH (format = '{kind}') AS SELECT id, price, day FROM sale")
    assert athena.rows(f"SELECT id, price, day FROM {name} ORDER BY id") == [
        ["1", "10.50", "2024-03-01"],
        ["2", "3.25", "2024-03-02"],
        ["3", None, None],
    ]


def test_unload(athena: Athena, endpoint: Endpoint) -> None:
    to = f"s3://{BUCKET}/unloaded/{uuid4()}"
    sql = f"UNLOAD (SELECT id, note FROM sale WHERE id < 3 ORDER BY id) TO '{to}/'"
    execution = athena.ended(athena.start(f"{sql} WITH (format = 'JSON', compression = 'gzip')"))
    assert execution["Status"]["State"] == "SUCCEEDED", execution["Status"]
    (file,) = _object(endpoint, execution["Statistics"]["DataManifestLocation"]).decode().split()
    lines = gzip.decompress(_object(endpoint, file)).decode().splitlines()
    assert [json.loads(line) for line in lines] == [
        {"id": 1, "note": 'a,"b"'},
        {"id": 2, "note": ""},
    ]
    assert "HIVE_PATH_ALREADY_EXISTS" in athena.error(f"{sql} WITH (format = 'JSON')")


PARTITIONS = ["a/b", "..", "../../x", "50%", "a=b", "%2F", ""]


def test_any_value_is_a_partition_of_its_own(athena: Athena, name: str) -> None:
    values = ", ".join(f"('{value}', {n})" for n, value in enumerate(PARTITIONS))
    athena.rows(
        f"CREATE TABLE {name} WITH (partitioned_by = ARRAY['k']) AS"
        f" SELECT n, k FROM (VALUES {values}, (NULL, 9)) AS t (k, n)"
    )
    rows = athena.rows(f"SELECT n, k FROM {name} ORDER BY n")
    named = [[str(n), value or None] for n, value in enumerate(PARTITIONS)]
    assert rows == [*named, ["9", None]]
    assert ["k=a/b"] in athena.rows(f"SHOW PARTITIONS {name}")
    wrong = "SELECT 1 AS n, 'a' || chr(10) AS k"
    assert "HIVE_INVALID_PARTITION_VALUE" in athena.error(
        f"CREATE TABLE {name}_2 WITH (partitioned_by = ARRAY['k']) AS {wrong}"
    )
    to = f"s3://{BUCKET}/unloaded/{uuid4()}"
    unload = f"UNLOAD (SELECT 1 AS n, 2 AS k) TO '{to}' WITH (format = 'JSON', partitioned_by = "
    assert "HIVE_COLUMN_ORDER_MISMATCH" in athena.error(f"{unload}ARRAY['nope'])")


OF_THE_LAKE = f"s3://{BUCKET}/silver/tickit/sale"


@pytest.mark.parametrize(
    ("location", "why"),
    [
        (f"{OF_THE_LAKE}/.hoodie", "belongs to the lake's table tickit.sale"),
        (f"s3://{BUCKET}/silver", "belongs to the lake's tables"),
        (f"s3://{BUCKET}/Silver%2Ftickit/sale", "belongs to the lake's table tickit.sale"),
        (f"s3://{BUCKET}/", "is above the lake's tables"),
        (f"s3://{BUCKET}/x/../silver/tickit", "not a valid S3 path"),
        ("s3:///etc", "not a valid S3 path"),
        ("s3://no-such-bucket/x", "Unable to verify/create output bucket"),
    ],
)
def test_nothing_is_written_into_the_lake(
    athena: Athena, endpoint: Endpoint, name: str, location: str, why: str
) -> None:
    s3 = endpoint.client("s3")
    before = s3.list_objects_v2(Bucket=BUCKET, Prefix="silver").get("Contents")
    ctas = f"CREATE TABLE {name} WITH (external_location = '{location}') AS SELECT 1 AS n"
    assert why in athena.error(ctas)
    assert why in athena.error(f"UNLOAD (SELECT 1 AS n) TO '{location}' WITH (format = 'JSON')")
    result = {"OutputLocation": location}
    invalid = athena.client.exceptions.InvalidRequestException
    with pytest.raises(invalid, match=why.replace("(", r"\(")):
        athena.start("SELECT 1", ResultConfiguration=result)
    if "bucket" not in why:
        with pytest.raises(invalid, match=why):
            athena.client.create_work_group(
                Name=name, Configuration={"ResultConfiguration": result}
            )
        with pytest.raises(invalid, match=why):
            athena.client.update_work_group(
                WorkGroup="primary", ConfigurationUpdates={"ResultConfigurationUpdates": result}
            )
    assert s3.list_objects_v2(Bucket=BUCKET, Prefix="silver").get("Contents") == before


def test_prepared_statements(athena: Athena, name: str) -> None:
    athena.rows(f"PREPARE {name} FROM SELECT id FROM sale WHERE categoryid = ? ORDER BY id")
    assert athena.rows(f"EXECUTE {name} USING 1") == [["1"], ["3"]]
    assert athena.rows(f"EXECUTE {name}", ExecutionParameters=["2"]) == [["2"]]
    got = athena.client.get_prepared_statement(StatementName=name, WorkGroup="primary")
    assert got["PreparedStatement"]["QueryStatement"].startswith("SELECT id FROM sale")
    athena.rows(f"DEALLOCATE PREPARE {name}")
    assert "not found" in athena.error(f"EXECUTE {name} USING 1")


def test_show_and_describe(athena: Athena) -> None:
    assert ["tickit"] in athena.rows("SHOW DATABASES")
    assert athena.rows("SHOW TABLES IN moma") == [["artists"], ["artists_ro"], ["artists_rt"]]
    assert athena.rows("SHOW TABLES 'cat*'") == [["category"]]
    assert [r[0] and r[0].strip() for r in athena.rows("SHOW COLUMNS IN category")] == [
        "id",
        "name",
    ]
    described = [(r[0] or "").split() for r in athena.rows("DESCRIBE sale")]
    assert described[1:4] == [["id", "int"], ["categoryid", "int"], ["price", "decimal(8,2)"]]
    shown = "\n".join(r[0] or "" for r in athena.rows("SHOW CREATE TABLE moma.artists_rt"))
    assert "HoodieParquetRealtimeInputFormat" in shown
    assert "does not exist" in athena.error("DESCRIBE nowhere")


def test_what_describes_is_one_text_under_three_names(athena: Athena) -> None:
    """As Athena has it: the file is columns with tabs between them, a row of the API is a line."""
    id_ = athena.start("DESCRIBE moma.artists")
    athena.ended(id_)
    answer = athena.client.get_query_results(QueryExecutionId=id_)["ResultSet"]
    names = [info["Name"] for info in answer["ResultSetMetadata"]["ColumnInfo"]]
    assert names == ["col_name", "data_type", "comment"]
    lines = [row["Data"] for row in answer["Rows"]]
    blank = 20 * " "
    assert lines[0] == [{"VarCharValue": f"{'id':20}\t{'int':20}\t{blank}"}]
    assert lines[2:5] == [
        [{"VarCharValue": "\t \t "}],
        [{"VarCharValue": "# Partition Information\t \t "}],
        [{"VarCharValue": f"{'# col_name':20}\t{'data_type':20}\t{'comment':20}"}],
    ]
    assert lines[6] == lines[1] == [{"VarCharValue": f"{'name':20}\t{'string':20}\t{blank}"}]


def test_the_command_line_shows_what_describes_in_columns(endpoint: Endpoint) -> None:
    asked = labctl_athena.Athena(Connection(endpoint.client("athena")))
    answer = asked.run("DESCRIBE moma.artists", database="tickit")
    assert answer.columns == ("col_name", "data_type", "comment")
    assert answer.rows[:2] == [["id", "int", ""], ["name", "string", ""]]


def test_properties_of_a_table_are_set(athena: Athena, endpoint: Endpoint, name: str) -> None:
    athena.rows(f"CREATE TABLE {name} AS SELECT 1 AS x")
    athena.rows(
        f"ALTER TABLE `tickit`.`{name}` SET TBLPROPERTIES ('Owner' = 'a, b', 'numRows'='2')"
    )
    table = endpoint.client("glue").get_table(DatabaseName="tickit", Name=name)["Table"]
    assert (table["Parameters"]["Owner"], table["Parameters"]["numRows"]) == ("a, b", "2")
    assert table["Parameters"]["EXTERNAL"] == "TRUE"
    assert ["Owner\ta, b"] in athena.rows(f"SHOW TBLPROPERTIES {name}")
    change = "ALTER TABLE {} SET TBLPROPERTIES ('a' = 'b')"
    assert "read only" in athena.error(change.format("sale"))
    assert "does not exist" in athena.error(change.format("nowhere"))
    assert "RENAME is not supported" in athena.error(f"ALTER TABLE {name} RENAME TO y")


@pytest.mark.parametrize(
    ("properties", "serde", "said"),
    [
        ({"projection.enabled": "true"}, {}, "Partition projection"),
        ({"skip.footer.line.count": "1"}, {}, "skip.footer.line.count"),
        ({}, {"serialization.last.column.takes.rest": "true"}, "last.column.takes.rest"),
    ],
)
def test_what_says_which_rows_there_are_is_not_passed_over(
    athena: Athena, endpoint: Endpoint, name: str, properties: dict[str, str],
    serde: dict[str, str], said: str,
) -> None:  # fmt: skip
    athena.rows(f"CREATE TABLE {name} WITH (format = 'TEXTFILE') AS SELECT 1 AS x")
    glue = endpoint.client("glue")
    table = glue.get_table(DatabaseName="tickit", Name=name)["Table"]
    storage = table["StorageDescriptor"]
    storage["SerdeInfo"]["Parameters"].update(serde)
    changed = {key: table[key] for key in ("Name", "TableType", "PartitionKeys")}
    changed |= {"Parameters": properties, "StorageDescriptor": storage}
    assert athena.rows(f"SELECT x FROM {name}") == [["1"]]
    glue.update_table(DatabaseName="tickit", TableInput=changed)
    assert said in athena.error(f"SELECT x FROM {name}")


def test_explain(athena: Athena) -> None:
    assert len(athena.rows("EXPLAIN SELECT id FROM sale WHERE id = 1")) > 1
    assert "COLUMN_NOT_FOUND" in athena.error("EXPLAIN SELECT nope FROM sale")


def test_databases(athena: Athena, name: str) -> None:
    athena.rows(f"CREATE DATABASE {name}")
    athena.rows(f"CREATE DATABASE IF NOT EXISTS {name}")
    assert "already exists" in athena.error(f"CREATE DATABASE {name}")
    athena.rows("CREATE TABLE one AS SELECT 1 AS x", name)
    assert "not empty" in athena.error(f"DROP DATABASE {name}")
    athena.rows(f"DROP DATABASE {name} CASCADE")
    assert [name] not in athena.rows("SHOW DATABASES")
    assert "one of the lake" in athena.error("DROP DATABASE moma CASCADE")
