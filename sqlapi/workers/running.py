"""A worker's jobs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sqlapi.athena.result_writer import ResultWriter
from sqlapi.athena.tables_written import write
from sqlapi.catalog.information_schema import Asked
from sqlapi.catalog.reading import Reader
from sqlapi.source import Comparison, MergeView, SourceTable, TableSource
from sqlapi.sql.engine import Engine, Run
from sqlapi.sql.statement_errors import SqlError
from sqlapi.sql.translate import Translation, translate, with_parameters
from sqlapi.workers.jobs import Answered, Describe, Explain, Job, Select, Setup, Write

if TYPE_CHECKING:
    from sqlapi.catalog.definitions import SourceName

__all__ = ["Ask", "Jobs"]

Ask = Callable[..., Any]
"""Function that calls the service: it takes a name in `CatalogCalls` and arguments."""


class Jobs:
    """Runner of jobs, one at a time, with one engine and one source."""

    def __init__(self, setup: Setup, engine: Engine, ask: Ask) -> None:
        self._setup = setup
        self._engine = engine
        self._catalog = _Catalog(setup.source, ask)

    def do(self, job: Job) -> Answered:
        """Do a job. Raises SqlError and any other error."""
        try:
            return self._do(job)
        except (MemoryError, pa.ArrowMemoryError) as error:
            raise _too_large(error) from None
        except RecursionError:
            raise SqlError("NOT_SUPPORTED", "The statement is nested too deeply") from None

    def _do(self, job: Job) -> Answered:
        run = self._engine.run()
        reader = Reader(self._catalog, self._setup.storage, self._setup.catalog)
        made = translate(with_parameters(job.sql, job.parameters), reader, job.database)
        columns = list(made.columns)
        match job:
            case Describe():
                return Answered(columns)
            case Explain():
                return Answered(
                    columns, lines=run.explain(made, reader.rows(made.read)).split("\n")
                )
            case Select():
                return self._select(job, made, reader, run)
            case Write():
                return self._write(job, made, reader, run)
        raise TypeError(f"no such job: {type(job).__name__}")

    def _tables(self, made: Translation, reader: Reader, run: Run, limit: int | None) -> _Read:
        empty = reader.empty(made.read)
        texts = run.texts(made, empty) if any(map(reader.is_information, made.read)) else {}
        tables = reader.rows(made.read, run.where(made, empty), texts)
        scanned = sum(
            table.nbytes for key, table in tables.items() if not reader.is_information(key)
        )
        if limit is not None and scanned > limit:
            raise SqlError("EXCEEDED_SCAN_LIMIT", "Bytes scanned limit was exceeded")
        return tables, scanned, sum(table.num_rows for table in tables.values())

    def _select(self, job: Select, made: Translation, reader: Reader, run: Run) -> Answered:
        tables, scanned, input_rows = self._tables(made, reader, run, job.scan_limit)
        columns = list(made.columns)
        setup = self._setup
        with ResultWriter(columns, setup.scratch, setup.result_bytes) as result:
            for batch in run.batches(made, tables):
                result.add(batch)
            result.put(setup.storage, job.location)
            layout, beginning = result.layout, result.beginning()
        return Answered(
            columns, layout.rows, scanned, input_rows, layout=layout, beginning=beginning
        )

    def _write(self, job: Write, made: Translation, reader: Reader, run: Run) -> Answered:
        tables, scanned, input_rows = self._tables(made, reader, run, job.scan_limit)
        rows = run.answer(made, tables)
        small = [(label.lower(), kind) for label, kind in made.columns]
        files = write(self._setup.storage, job.target, rows, small, job.name) if job.name else []
        return Answered(list(made.columns), rows.num_rows, scanned, input_rows, files=files)


_Read = tuple[Mapping[str, pa.Table], int, int]
"""Tables, their size in bytes, and their number of rows."""


def _too_large(error: BaseException) -> SqlError:
    first = next(iter(str(error).splitlines()), "") or type(error).__name__
    return SqlError("EXCEEDED_LOCAL_MEMORY_LIMIT", f"Query exceeded its memory limit: {first}")


class _Catalog:
    """The service's catalog, whose rows the worker reads. See `sqlapi.catalog.reading`."""

    def __init__(self, source: TableSource, ask: Ask) -> None:
        self.source: TableSource = _Source(source, ask)
        self._ask = ask

    def lake_table(self, database: str, name: str) -> SourceName | None:
        found: SourceName | None = self._ask("lake_table", database, name)
        return found

    def stored(self, database: str, name: str) -> Mapping[str, Any] | None:
        found: Mapping[str, Any] | None = self._ask("stored", database, name)
        return found

    def partitions(self, database: str, name: str) -> Sequence[Mapping[str, Any]]:
        found: Sequence[Mapping[str, Any]] = self._ask("partitions", database, name)
        return found

    def database(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("database", name)
        return found

    def information(self, catalog: str, table: str, asked: Asked) -> pa.Table:
        found: pa.Table = self._ask("information", catalog, table, asked)
        return found


class _Source:
    """Source that gets schemas from the service, which caches them, and reads rows itself."""

    def __init__(self, source: TableSource, ask: Ask) -> None:
        self._source = source
        self._ask = ask
        self.tables = source.tables
        self.partitions = source.partitions
        self.last_commit = source.last_commit

    def schema(self, table: SourceTable) -> pa.Schema:
        found: pa.Schema = self._ask("schema", table)
        return found

    def read(
        self,
        table: SourceTable,
        columns: Sequence[str],
        view: MergeView,
        where: Sequence[Comparison] = (),
    ) -> pa.Table:
        return self._source.read(table, columns, view, where)
