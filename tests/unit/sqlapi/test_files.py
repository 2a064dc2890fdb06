"""The tables of files that clients define, as queries read them."""

from __future__ import annotations

import bz2
import gzip
import io
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pytest
from pyarrow import fs, orc, parquet

from sqlapi.catalog.files import Files, column_type
from sqlapi.sql.statement_errors import SqlError
from sqlapi.storage import Storage

PLACE = "s3://lake/t"
LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
CSV = "org.apache.hadoop.hive.serde2.OpenCSVSerde"
JSON = "org.openx.data.jsonserde.JsonSerDe"
TEXT = "org.apache.hadoop.mapred.TextInputFormat"
PARQUET = "org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"
ORC = "org.apache.hadoop.hive.ql.io.orc.OrcInputFormat"
AVRO = "org.apache.hadoop.hive.ql.io.avro.AvroContainerInputFormat"


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    return Storage(fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()))


def _definition(
    columns: Mapping[str, str],
    library: str = LAZY,
    reads: str = TEXT,
    *,
    serde: Mapping[str, str] | None = None,
    properties: Mapping[str, str] | None = None,
    keys: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    return {
        "Parameters": dict(properties or {}),
        "PartitionKeys": [{"Name": n, "Type": t} for n, t in (keys or {}).items()],
        "StorageDescriptor": {
            "Columns": [{"Name": n, "Type": t} for n, t in columns.items()],
            "Location": PLACE,
            "InputFormat": reads,
            "SerdeInfo": {"SerializationLibrary": library, "Parameters": dict(serde or {})},
        },
    }


def _rows(
    storage: Storage, definition: dict[str, Any], partitions: Sequence[dict[str, Any]] = ()
) -> list[tuple[Any, ...]]:
    stored = definition["StorageDescriptor"]["Columns"] + definition["PartitionKeys"]
    columns = {c["Name"]: column_type(c) for c in stored}
    rows = Files(storage).rows(definition, partitions, columns, ())
    return list(zip(*(column.to_pylist() for column in rows.columns), strict=True))


def _lines(storage: Storage, text: str, name: str = "a.txt") -> None:
    storage.write(f"{PLACE}/{name}", text.encode())


def test_rows_that_are_short_or_long(storage: Storage) -> None:
    _lines(storage, "1,a,9\n2\n\n3,c,4,5,6\n")
    found = _rows(
        storage,
        _definition({"n": "int", "s": "string", "m": "int"}, serde={"field.delim": ","}),
    )
    assert found == [(1, "a", 9), (2, None, None), (None, None, None), (3, "c", 4)]


@pytest.mark.parametrize(
    ("kind", "texts", "values"),
    [
        ("int", ["7", "+7", "x", "", "2147483648", " 7"], [7, 7, None, None, None, None]),
        ("tinyint", ["-128", "128"], [-128, None]),
        ("bigint", ["9223372036854775807", "9223372036854775808"], [2**63 - 1, None]),
        ("double", ["1.5", "1e3", "-.5", "abc"], [1.5, 1000.0, -0.5, None]),
        ("boolean", ["TRUE", "false", "1"], [True, False, None]),
        ("decimal(4,2)", ["1.005", "99.99", "100"], [Decimal("1.01"), Decimal("99.99"), None]),
        ("date", ["2024-02-29", "2023-02-29", "2024-1-1"], [date(2024, 2, 29), None, None]),
        ("timestamp", ["2024-01-02 03:04:05.678", "2024-01-02"],
         [datetime(2024, 1, 2, 3, 4, 5, 678000), None]),
        ("string", ["", "\\N", "a"], ["", None, "a"]),
    ],
)  # fmt: skip
def test_values_that_are_none_of_their_type_are_null(
    storage: Storage, kind: str, texts: list[str], values: list[Any]
) -> None:
    _lines(storage, "".join(f"{text}\n" for text in texts))
    assert [value for (value,) in _rows(storage, _definition({"v": kind}))] == values


def test_escapes(storage: Storage) -> None:
    _lines(storage, "a\\,b,c\\\\d\n\\N,x\n")
    form = {"field.delim": ",", "escape.delim": "\\"}
    found = _rows(storage, _definition({"a": "string", "b": "string"}, serde=form))
    assert found == [("a,b", "c\\d"), (None, "x")]


def test_many_escapes_take_time_as_the_text_is_long(storage: Storage) -> None:
    """Text that is copied for each sign would take hours here, and the run's limit would tell."""
    count = 3_000_000
    _lines(storage, "\\a" * count + "\n")
    form = {"field.delim": ",", "escape.delim": "\\"}
    ((value,),) = _rows(storage, _definition({"a": "string"}, serde=form))
    assert value == "a" * count


def test_csv_whose_quote_stays_open_is_refused_and_a_long_field_is_not(storage: Storage) -> None:
    definition = _definition({"s": "string", "n": "string"}, CSV)
    _lines(storage, '"a\nb",2\n')
    with pytest.raises(SqlError, match="A line is no CSV"):
        _rows(storage, definition)
    _lines(storage, f"{'x' * 200_000},2\n")
    assert _rows(storage, definition) == [("x" * 200_000, "2")]


@pytest.mark.parametrize(
    ("line", "kind", "said"),
    [
        ('{"v": ' + "[" * 100_000 + "]" * 100_000 + "}", "string", "no JSON object"),
        ('{"v": NaN}', "double", "no JSON object"),
        ('{"v": "@@@="}', "binary", "no text in Base64"),
        ('{"v": 3}', "binary", "no text in Base64"),
        ('{"v": 1.5}', "int", "A value is no integer"),
        ('{"v": 99999999999}', "int", "A value is no integer"),
    ],
)
def test_json_that_does_not_fit(storage: Storage, line: str, kind: str, said: str) -> None:
    _lines(storage, f"{line}\n")
    with pytest.raises(SqlError, match=said):
        _rows(storage, _definition({"v": kind}, JSON))


def test_csv_with_quotes_and_a_header(storage: Storage) -> None:
    _lines(storage, 'n,s\r\n1,"a,""b"""\r\n2,plain\r\n')
    _lines(storage, 'n,s\n3,"x\\"y"\n', "b.csv")
    found = _rows(
        storage,
        _definition(
            {"n": "int", "s": "string"}, CSV, serde={"separatorChar": ",", "quoteChar": '"'},
            properties={"skip.header.line.count": "1"},
        ),
    )  # fmt: skip
    assert found == [(1, 'a,"b"'), (2, "plain"), (3, 'x"y')]


def test_compressed_hidden_and_empty_files(storage: Storage) -> None:
    storage.write(f"{PLACE}/a.gz", gzip.compress(b"1\n"))
    storage.write(f"{PLACE}/b.bz2", bz2.compress(b"2\n"))
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(b"3\n")
    storage.write(f"{PLACE}/c.zst", sink.getvalue().to_pybytes())
    storage.write(f"{PLACE}/empty.gz", b"")
    storage.write(f"{PLACE}/_SUCCESS", b"9\n")
    storage.write(f"{PLACE}/.hidden", b"9\n")
    storage.write(f"{PLACE}/_temporary/x", b"9\n")
    assert sorted(_rows(storage, _definition({"n": "int"}))) == [(1,), (2,), (3,)]
    storage.write(f"{PLACE}/d.snappy", b"x")
    with pytest.raises(SqlError, match=r"compressed as \.snappy"):
        _rows(storage, _definition({"n": "int"}))


def test_json_with_nested_values(storage: Storage) -> None:
    _lines(storage, '{"N": 1, "a": [1, null], "m": {"k": "v"}, "r": {"X": 2}}\n\n{"n": 2}\n')
    columns = {
        "n": "int", "a": "array<int>", "m": "map<string,string>", "r": "struct<x:int,y:string>",
    }  # fmt: skip
    found = _rows(storage, _definition(columns, JSON))
    assert found == [(1, [1, None], [("k", "v")], {"x": 2, "y": None}), (2, None, None, None)]
    _lines(storage, "no json\n", "b.txt")
    with pytest.raises(SqlError, match="no JSON object"):
        _rows(storage, _definition(columns, JSON))
    lenient = {"ignore.malformed.json": "true"}
    assert len(_rows(storage, _definition(columns, JSON, serde=lenient))) == 3


def test_a_partitioned_table_has_the_files_of_its_partitions_alone(storage: Storage) -> None:
    _lines(storage, "1\n", "day=2024-01-01/a")
    _lines(storage, "2\n", "day=2024-01-02/a")
    storage.write("s3://other/elsewhere/a", b"3\n4\n")
    definition = _definition({"n": "int"}, keys={"day": "date"})
    assert _rows(storage, definition) == []
    partitions = [
        {"Values": ["2024-01-02"], "StorageDescriptor": {"Location": f"{PLACE}/day=2024-01-02"}},
        {"Values": ["2024-01-03"], "StorageDescriptor": {"Location": "s3://other/elsewhere/"}},
    ]
    assert _rows(storage, definition, partitions) == [
        (2, date(2024, 1, 2)), (3, date(2024, 1, 3)), (4, date(2024, 1, 3)),
    ]  # fmt: skip
    partitions[1] = {**partitions[0], "Values": ["2024-01-03"]}
    both = [(2, date(2024, 1, 2)), (2, date(2024, 1, 3))]
    assert sorted(_rows(storage, definition, partitions)) == both
    wrong = [{"Values": ["x"], "StorageDescriptor": {"Location": f"{PLACE}/day=2024-01-02"}}]
    with pytest.raises(SqlError, match="HIVE_INVALID_PARTITION_VALUE"):
        _rows(storage, definition, wrong)


def _sink(write: Any, table: pa.Table) -> bytes:
    sink = io.BytesIO()
    write(table, sink)
    return sink.getvalue()


def test_parquet_is_read_by_name_in_any_case(storage: Storage) -> None:
    first = pa.table({"Id": pa.array([1], pa.int32()), "S": ["a"]})
    storage.write(f"{PLACE}/a", _sink(parquet.write_table, first))
    second = pa.table({"s": ["b"], "x": [0]})
    storage.write(f"{PLACE}/b", _sink(parquet.write_table, second))
    found = _rows(storage, _definition({"id": "int", "s": "string"}, "", PARQUET))
    assert sorted(found, key=str) == [(1, "a"), (None, "b")]


def test_orc_is_read_by_position(storage: Storage) -> None:
    rows = pa.table({"_col0": pa.array([1], pa.int32()), "_col1": ["a"]})
    storage.write(f"{PLACE}/a", _sink(orc.write_table, rows))
    found = _rows(storage, _definition({"id": "int", "s": "string", "t": "string"}, "", ORC))
    assert found == [(1, "a", None)]


def test_avro(storage: Storage) -> None:
    schema = {
        "type": "record", "name": "r",
        "fields": [
            {"name": "Id", "type": "int"},
            {"name": "tags", "type": {"type": "array", "items": "string"}},
            {"name": "day", "type": ["null", {"type": "int", "logicalType": "date"}]},
        ],
    }  # fmt: skip
    sink = io.BytesIO()
    records = [
        {"Id": 1, "tags": ["a"], "day": date(2024, 1, 2)},
        {"Id": 2, "tags": [], "day": None},
    ]
    fastavro.writer(sink, schema, records)
    storage.write(f"{PLACE}/a", sink.getvalue())
    found = _rows(
        storage, _definition({"id": "bigint", "tags": "array<string>", "day": "date"}, "", AVRO)
    )
    assert found == [(1, ["a"], date(2024, 1, 2)), (2, [], None)]
