"""Bronze files as rows of a silver table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from lakehouse.bronze_files import schema_in
from lakehouse.bronze_listing import BronzeObject
from lakehouse.decode import FLAG_BAD, column_values, columns_of, exactness
from lakehouse.errors import PermanentError
from lakehouse.mapping import WriterSchema
from lakehouse.schema import POSITION_COLUMNS
from lakehouse.storage import Storage

__all__ = ["BronzeReader", "FilesOfSchema"]

_HEADER_BYTES = 16 * 1024
_PARALLEL_HEADERS = 8
_TIMESTAMP = "__kafka_timestamp"


@dataclass(frozen=True, slots=True)
class FilesOfSchema:
    """Files that were written with one schema."""

    schema: WriterSchema
    paths: Sequence[str]


class BronzeReader:
    """Reads files of one topic, whatever schemas they were written with."""

    def __init__(self, spark: SparkSession, storage: Storage, key: str) -> None:
        """`key` is a column of the record key: never null in a sound row."""
        self._spark = spark
        self._storage = storage
        self._key = key
        self._columns: dict[str, StructType] = {}
        self._schemas: dict[str, WriterSchema] = {}

    def by_schema(self, files: Sequence[BronzeObject]) -> list[FilesOfSchema]:
        """Group `files` by the schema in their headers."""
        if len(files) == 1:
            texts = [self._schema_text(files[0])]
        else:
            with ThreadPoolExecutor(_PARALLEL_HEADERS) as pool:
                texts = list(pool.map(self._schema_text, files))
        paths: dict[str, list[str]] = {}
        for file, text in zip(files, texts, strict=True):
            paths.setdefault(text, []).append(file.path)
        return [FilesOfSchema(self._parsed(text), group) for text, group in paths.items()]

    def columns(self, schema: WriterSchema) -> StructType:
        """Columns of the rows in files of `schema`."""
        known = self._columns.get(schema.text)
        if known is None:
            positions = {field.name: field for field in POSITION_COLUMNS.fields}
            fields = columns_of(self._spark, schema).fields
            known = StructType([positions.get(field.name, field) for field in fields])
            self._columns[schema.text] = known
        return known

    def rows(self, groups: Iterable[FilesOfSchema], target: StructType) -> DataFrame:
        """All rows of the files as rows of `target`, with `FLAG_BAD`."""
        return reduce(DataFrame.unionAll, [self._rows(group, target) for group in groups])

    def _rows(self, group: FilesOfSchema, target: StructType) -> DataFrame:
        values = column_values(group.schema, "", target)
        values[_TIMESTAMP] = f"unix_millis({_TIMESTAMP})"
        bad = f"`{self._key}` IS NULL OR NOT ({exactness(group.schema, '')})"
        files = (
            self._spark.read.format("avro")
            .option("avroSchema", group.schema.text)
            .option("datetimeRebaseMode", "CORRECTED")
            .option("recursiveFileLookup", "true")
            .load(list(group.paths))
        )
        return files.selectExpr(
            *(f"{value} AS `{name}`" for name, value in values.items()), f"{bad} AS {FLAG_BAD}"
        )

    def _schema_text(self, file: BronzeObject) -> str:
        head = self._storage.read(file.path, _HEADER_BYTES)
        try:
            text = schema_in(head)
            if text is None:
                text = schema_in(self._storage.read(file.path))
        except ValueError as error:
            raise _unreadable(file.path, str(error)) from None
        if text is None:
            raise _unreadable(file.path, "its header is cut short")
        return text

    def _parsed(self, text: str) -> WriterSchema:
        if text not in self._schemas:
            self._schemas[text] = WriterSchema.parse(text)
        return self._schemas[text]


def _unreadable(path: str, reason: str) -> PermanentError:
    return PermanentError(
        f"The bronze file {path} cannot be read: {reason}",
        hint="Remove it; if the topic still has its records, the bronze writer can write it again",
    )
