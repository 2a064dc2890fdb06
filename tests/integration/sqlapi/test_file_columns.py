"""`$path`, `$file_size` and `$file_modified_time` over files that a bucket has."""

from __future__ import annotations

from datetime import UTC
from uuid import uuid4

from tests.integration.sqlapi.conftest import BUCKET, Athena, Endpoint


def test_a_table_tells_the_files_that_the_bucket_has(athena: Athena, endpoint: Endpoint) -> None:
    name = f"t_{uuid4().hex[:8]}"
    athena.rows(
        f"CREATE TABLE {name} WITH (format = 'PARQUET', partitioned_by = ARRAY['kind'],"
        f" external_location = 's3://{BUCKET}/{name}/') AS"
        " SELECT id, IF(id = 1, 'a/b', 'c') AS kind FROM sale"
    )
    listed = endpoint.client("s3").list_objects_v2(Bucket=BUCKET, Prefix=f"{name}/")["Contents"]
    facts = {
        f"s3://{BUCKET}/{found['Key']}": [
            str(found["Size"]),
            f"{found['LastModified'].astimezone(UTC):%Y-%m-%d %H:%M:%S.%f}"[:-3] + " UTC",
        ]
        for found in listed
    }
    rows = athena.rows(
        f'SELECT id, "$path", "$file_size", "$file_modified_time" FROM {name} ORDER BY id'
    )
    assert [row[0] for row in rows] == ["1", "2", "3"]
    for id_, path, *rest in rows:
        assert facts[str(path)] == rest
        assert ("/kind=a%2Fb/" in str(path)) == (id_ == "1")
    # what Amazon's guide shows
    found = athena.rows(f'SELECT DISTINCT "$path" AS data_source_file FROM {name} ORDER BY 1')
    assert [path for (path,) in found] == sorted(facts)
    (one,) = athena.rows(f"SELECT \"$path\" FROM {name} WHERE kind = 'a/b'")
    assert athena.rows(f"SELECT id FROM {name} WHERE \"$path\" = '{one[0]}'") == [["1"]]
    assert "2" in {str(row[0]) for row in athena.rows(f"SELECT * FROM {name}")}
    assert athena.rows(f'SELECT count(*) FROM {name} WHERE "$file_size" > 100') == [["3"]]


def test_no_address_is_one_of_this_machine(athena: Athena) -> None:
    for table in ("sale", "moma.artists", "moma.artists_ro"):
        for (path,) in athena.rows(f'SELECT "$path" FROM {table}'):
            assert str(path).startswith("s3://")
