"""Bronze files as rows of a silver table."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType
from typing import Any, TypeVar, cast

import fastavro
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import BooleanType, StructField, StructType

from lakecontract.bronze_files import records_in, schema_in
from lakecontract.deletes import DELETED, MARK
from lakecontract.errors import PermanentError
from lakehouse.bronze.listing import ListedFile
from lakehouse.decode import FLAG_BAD, column_values, columns_of, exactness
from lakehouse.mapping import WriterSchema
from lakehouse.record_keys import RecordKeys
from lakehouse.schema_changes import POSITION_COLUMNS
from lakehouse.storage import LakeFiles
from lakehouse.table_batch import BatchPart, unseen
from lakehouse.truncates import Truncate

__all__ = ["BronzeReader", "FilesOfSchema", "parts_in"]

_HEADER_BYTES = 16 * 1024
_SMALL_BATCH_BYTES = 64 * 1024
_PARALLEL_READS = 8
_PARTITION, _OFFSET, _TIMESTAMP = POSITION_COLUMNS.names
T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class FilesOfSchema:
    """Files that were written with one schema."""

    schema: WriterSchema
    paths: Sequence[str]


class BronzeReader:
    """Reader of one topic's files, whatever schemas they were written with."""

    def __init__(self, spark: SparkSession, storage: LakeFiles, keys: RecordKeys) -> None:
        self._spark = spark
        self._storage = storage
        self._keys = keys
        self._columns: dict[str, StructType] = {}
        self._schemas: dict[str, WriterSchema] = {}

    def small(self, files: Sequence[ListedFile]) -> Mapping[str, bytes]:
        """Return the contents of `files` by path if they are small in total, else nothing."""
        if sum(file.size for file in files) > _SMALL_BATCH_BYTES:
            return {}
        paths = [file.path for file in files]
        return dict(zip(paths, _each(self._storage.read, paths), strict=True))

    def by_schema(
        self, files: Sequence[ListedFile], contents: Mapping[str, bytes] = MappingProxyType({})
    ) -> list[FilesOfSchema]:
        """Group `files` by the schema in their headers; `contents` are known ones, by path."""

        def text_of(file: ListedFile) -> str:
            return self._schema_text(file, contents.get(file.path))

        texts = _each(text_of, files)
        paths: dict[str, list[str]] = {}
        for file, text in zip(files, texts, strict=True):
            paths.setdefault(text, []).append(file.path)
        return [FilesOfSchema(self._parsed(text), group) for text, group in paths.items()]

    def check_whole(self, files: Sequence[ListedFile]) -> None:
        """Raise PermanentError, with the file's name, for a file that is cut short or torn.

        Spark would name no file, and would read a file cut off between blocks as if it were whole.
        """

        def check(file: ListedFile) -> None:
            try:
                records_in(self._storage.read(file.path))
            except ValueError as error:
                raise _unreadable(file.path, str(error)) from None

        _each(check, files)

    def unreadable(self, files: Sequence[ListedFile]) -> PermanentError | None:
        """Return the error of the first file that cannot be decoded; None when all can.

        A file that is gone is none of them: it was removed after it was listed.
        """
        for file in files:
            try:
                self.check_whole([file])
                for _record in fastavro.reader(io.BytesIO(self._storage.read(file.path))):
                    pass
            except PermanentError as error:
                return error
            except Exception as error:
                if "FileNotFoundException" not in str(error):
                    return _unreadable(file.path, f"{type(error).__name__}: {error}")
        return None

    def columns(self, schema: WriterSchema) -> StructType:
        """Return the columns of the rows in files of `schema`."""
        known = self._columns.get(schema.text)
        if known is None:
            positions = {field.name: field for field in POSITION_COLUMNS.fields}
            fields = columns_of(self._spark, schema).fields
            known = StructType([positions.get(field.name, field) for field in fields])
            self._columns[schema.text] = known
        return known

    def truncates(self, groups: Iterable[FilesOfSchema]) -> list[Truncate]:
        """Return the TRUNCATE records in the files. Files of other schemas are not read."""
        return [
            Truncate(*row)
            for group in groups
            if group.schema.is_truncate
            for row in self._read(group)
            .selectExpr(_PARTITION, _OFFSET, f"unix_millis({_TIMESTAMP})")
            .collect()
        ]

    def rows(self, groups: Iterable[FilesOfSchema], target: StructType) -> DataFrame:
        """Return all rows of the files as rows of `target`, with `FLAG_BAD`."""
        found = [self._rows(group, target) for group in groups]
        if not found:
            flag = StructField(FLAG_BAD, BooleanType())
            return self._spark.createDataFrame([], StructType([*target.fields, flag]))
        return reduce(DataFrame.unionAll, found)

    def _rows(self, group: FilesOfSchema, target: StructType) -> DataFrame:
        values = column_values(group.schema, "", target)
        values[_TIMESTAMP] = f"unix_millis({_TIMESTAMP})"
        problem = self._keys.problem(target, lambda name: values.get(name, "NULL"))
        gone = f"coalesce({values[DELETED]} = '{MARK}', FALSE)" if DELETED in values else "FALSE"
        bad = f"({problem}) IS NOT NULL OR NOT ({exactness(group.schema, '')} OR {gone})"
        return self._read(group).selectExpr(
            *(f"{value} AS `{name}`" for name, value in values.items()), f"{bad} AS {FLAG_BAD}"
        )

    def _read(self, group: FilesOfSchema) -> DataFrame:
        return (
            self._spark.read.format("avro")
            .option("avroSchema", group.schema.text)
            .option("datetimeRebaseMode", "CORRECTED")
            .option("recursiveFileLookup", "true")
            # Folders may be named after any value: read a path literally, not as a pattern.
            .option("__globPaths__", "false")
            .load(list(group.paths))
        )

    def _schema_text(self, file: ListedFile, content: bytes | None) -> str:
        head = content or self._storage.read(file.path, _HEADER_BYTES)
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


def parts_in(contents: Iterable[bytes]) -> list[BatchPart] | None:
    """Return the parts of a batch of whole files, one per partition, all taken to be sound.

    Return None when the files cannot be read this way, or records are missing between them.
    """
    offsets: dict[int, list[int]] = defaultdict(list)
    try:
        for content in contents:
            for record in cast("Iterable[Any]", fastavro.reader(io.BytesIO(content))):
                offsets[record[_PARTITION]].append(record[_OFFSET])
    except Exception:
        # Spark will say what is wrong with them, if anything is.
        return None
    spans = {number: range(min(found), max(found) + 1) for number, found in offsets.items()}
    if any(len(spans[number]) != len(found) for number, found in offsets.items()):
        return None
    return [unseen(number, span) for number, span in spans.items()]


def _each(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Apply `work` to each of `items`, in parallel if there are several."""
    if len(items) == 1:
        return [work(items[0])]
    with ThreadPoolExecutor(_PARALLEL_READS) as pool:
        return list(pool.map(work, items))


def _unreadable(path: str, reason: str) -> PermanentError:
    return PermanentError(
        f"The bronze file {path} cannot be read: {reason}",
        hint="`labctl topics bronze check` names every such file. If the topic still has every "
        "row, or once it has (labctl connectors snapshot), write table and bronze again from it: "
        "labctl table rebuild TABLE --from-topic",
    )
