"""Tables that a client defines over its own files: CREATE EXTERNAL TABLE, ALTER TABLE, INSERT."""

from __future__ import annotations

from uuid import uuid4

import pytest

from tests.integration.sqlapi.conftest import BUCKET, Athena, Endpoint


@pytest.fixture
def name() -> str:
    """A name of the test's own."""
    return f"t_{uuid4().hex[:8]}"


def _put(endpoint: Endpoint, key: str, text: str) -> None:
    endpoint.client("s3").put_object(Bucket=BUCKET, Key=key, Body=text.encode())


def _create(name: str, *, keys: str = "", header: int = 1) -> str:
    return f"""
        CREATE EXTERNAL TABLE IF NOT EXISTS `{name}` (`id` int, price decimal(8, 2) COMMENT 'paid')
        {keys} ROW FORMAT DELIMITED FIELDS TERMINATED BY ',' STORED AS TEXTFILE
        LOCATION 's3://{BUCKET}/own/{name}/'
        TBLPROPERTIES ('skip.header.line.count' = '{header}')
    """  # fmt: skip


def test_a_table_over_text_files(athena: Athena, endpoint: Endpoint, name: str) -> None:
    _put(endpoint, f"own/{name}/a.csv", "id,price\n1,2.50\n2\nx,3\n")
    _put(endpoint, f"own/{name}/empty.csv", "")
    athena.rows(_create(name))
    athena.rows(_create(name))
    assert "already exists" in athena.error(_create(name).replace("IF NOT EXISTS", ""))
    assert athena.rows(f"SELECT * FROM {name} ORDER BY id") == [
        ["1", "2.50"], ["2", None], [None, "3.00"],
    ]  # fmt: skip
    athena.rows(f"ALTER TABLE {name} ADD COLUMNS (note string)")
    assert athena.rows(f"SELECT count(*), count(note) FROM {name}") == [["3", "0"]]
    _put(endpoint, f"own/{name}_2/a.csv", "h\n7,1,n\n")
    athena.rows(f"ALTER TABLE {name} SET LOCATION 's3://{BUCKET}/own/{name}_2/'")
    assert athena.rows(f"SELECT * FROM {name}") == [["7", "1.00", "n"]]
    athena.rows(f"ALTER TABLE {name} REPLACE COLUMNS (id bigint)")
    assert athena.rows(f"SELECT * FROM {name}") == [["7"]]
    athena.rows(f"DROP TABLE {name}")


def test_partitions_are_found_added_and_dropped(
    athena: Athena, endpoint: Endpoint, name: str
) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        _put(endpoint, f"own/{name}/day={day}/a.csv", f"{day[-2:]},1\n")
    _put(endpoint, f"own/{name}_else/a.csv", "9,1\n")
    _put(endpoint, f"own/{name}/day=2024-01-09.csv", "8,1\n")  # a file, and no folder
    athena.rows(_create(name, keys="PARTITIONED BY (day date)", header=0))
    assert athena.rows(f"SELECT id FROM {name}") == []
    found = athena.rows(f"MSCK REPAIR TABLE {name}")
    assert len(found) == 3
    assert athena.rows(f"MSCK REPAIR TABLE {name}") == []
    assert athena.rows(f"SHOW PARTITIONS {name}") == [["day=2024-01-01"], ["day=2024-01-02"]]
    add = (
        f"ALTER TABLE {name} ADD {{}} PARTITION (day = '2024-01-03')"
        f" LOCATION 's3://{BUCKET}/own/{name}_else/'"
    )
    athena.rows(add.format(""))
    athena.rows(add.format("IF NOT EXISTS"))
    assert "already exists" in athena.error(add.format(""))
    assert athena.rows(f"SELECT id, day FROM {name} WHERE day > DATE '2024-01-01' ORDER BY 2") == [
        ["2", "2024-01-02"], ["9", "2024-01-03"],
    ]  # fmt: skip
    athena.rows(f"ALTER TABLE {name} DROP PARTITION (day = '2024-01-01')")
    athena.rows(f"ALTER TABLE {name} DROP IF EXISTS PARTITION (day = '2024-01-01')")
    assert "not found" in athena.error(f"ALTER TABLE {name} DROP PARTITION (day = '2024-01-01')")
    rename = (
        f"ALTER TABLE {name} PARTITION (day = '2024-01-03')"
        " RENAME TO PARTITION (day = '2024-01-0{}')"
    )
    assert "already exists" in athena.error(rename.format(2))
    athena.rows(rename.format(4))
    athena.rows(
        f"ALTER TABLE {name} PARTITION (day = '2024-01-02')"
        f" SET LOCATION 's3://{BUCKET}/own/{name}_else/'"
    )
    assert athena.rows(f"SELECT id, day FROM {name} ORDER BY 2") == [
        ["9", "2024-01-02"], ["9", "2024-01-04"],
    ]  # fmt: skip


@pytest.mark.parametrize("form", ["PARQUET", "TEXTFILE", "JSON"])
def test_insert(athena: Athena, name: str, form: str) -> None:
    athena.rows(
        f"CREATE TABLE {name} WITH (format = '{form}', partitioned_by = ARRAY['k']) AS"
        " SELECT CAST(1 AS bigint) AS n, 'a' AS s, 'x' AS k"
    )
    athena.rows(f"INSERT INTO {name} VALUES (2, 'b', 'x'), (3, NULL, 'y')")
    athena.rows(f"INSERT INTO {name} (k, n) WITH q AS (SELECT 4 AS n) SELECT 'z', n FROM q")
    assert athena.rows(f"SELECT n, s, k FROM {name} ORDER BY n") == [
        ["1", "a", "x"], ["2", "b", "x"], ["3", None, "y"], ["4", None, "z"],
    ]  # fmt: skip
    assert "mismatched column types" in athena.error(f"INSERT INTO {name} SELECT 'a', 'b', 'c'")
    assert "mismatched column types" in athena.error(f"INSERT INTO {name} SELECT 1")
    assert "does not exist" in athena.error(f"INSERT INTO {name} (nope) SELECT 1")
    assert "does not exist" in athena.error("INSERT INTO nowhere SELECT 1")
    # A row would go to the folder of its value, which is no longer that of the partition.
    athena.rows(f"ALTER TABLE {name} PARTITION (k = 'y') RENAME TO PARTITION (k = 'w')")
    assert "partitions elsewhere" in athena.error(f"INSERT INTO {name} SELECT 9, 'i', 'w'")


def test_tables_of_the_lake_are_read_only_and_said_to_be(athena: Athena) -> None:
    for statement in (
        "INSERT INTO sale SELECT * FROM sale",
        "ALTER TABLE sale ADD COLUMNS (x int)",
        "MSCK REPAIR TABLE sale",
    ):
        assert "tickit.sale is a table of the lake: it is read only" in athena.error(statement)


@pytest.mark.parametrize("word", ["DELETE FROM sale", "UPDATE sale SET id = 1", "VACUUM sale"])
def test_statements_of_iceberg_are_refused_by_name(athena: Athena, word: str) -> None:
    error = athena.error(word)
    assert f"{word.split(maxsplit=1)[0]} is not supported" in error
    assert "Iceberg" in error


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (f"s3://{BUCKET}/silver/tickit/sale/", "belongs to the lake's table"),
        (f"s3://{BUCKET}/", "is above"),
        (f"s3://{BUCKET}/a/../silver/", "`..`"),
        ("/etc/", "s3://"),
        ("file:///etc/passwd", "s3://"),
        ("s3://no-such-bucket-of-the-tests/x/", "bucket"),
    ],
)
def test_places_that_no_table_may_have(athena: Athena, name: str, place: str, said: str) -> None:
    statement = f"CREATE EXTERNAL TABLE {name} (a string) LOCATION '{place}'"
    assert said in athena.error(statement)
    athena.rows(
        f"CREATE EXTERNAL TABLE {name} (a string) PARTITIONED BY (k string)"
        f" LOCATION 's3://{BUCKET}/own/{name}'"
    )
    assert said in athena.error(f"ALTER TABLE {name} SET LOCATION '{place}'")
    add = f"ALTER TABLE {name} ADD PARTITION (k = 'a') LOCATION '{place}'"
    assert said in athena.error(add)


def test_a_property_by_its_name(athena: Athena, name: str) -> None:
    athena.rows(_create(name))
    assert athena.rows(f"SHOW TBLPROPERTIES {name}('skip.header.line.count')") == [["1"]]
    ((line,),) = athena.rows(f'SHOW TBLPROPERTIES {name} ("nope")')
    assert "does not have property: nope" in str(line)


def test_forms_of_explain(athena: Athena) -> None:
    assert athena.rows("EXPLAIN (TYPE VALIDATE) SELECT id FROM sale") == [["true"]]
    assert "COLUMN_NOT_FOUND" in athena.error("EXPLAIN (TYPE VALIDATE) SELECT nope FROM sale")
    for options in ("(TYPE DISTRIBUTED)", "(FORMAT TEXT, type logical)", ""):
        assert athena.rows(f"EXPLAIN {options} SELECT id FROM sale")
    for options in ("(TYPE IO)", "(TYPE LOGICAL, FORMAT JSON)", "ANALYZE"):
        assert "NOT_SUPPORTED" in athena.error(f"EXPLAIN {options} SELECT id FROM sale")
    assert "mismatched input" in athena.error("EXPLAIN (TYPE NONE) SELECT 1")
