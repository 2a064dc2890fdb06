"""Pairs of a source table and its silver table, and the functions that read both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from labctl.config.endpoints import Endpoints
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.arrival_forecast import name_problems, silver_column
from labctl.sources import Source, SourceTable, TableRef, connect, connect_server, endpoint_of
from labctl.verify.verify_run import CaptureState, Pair, Rows, UnavailableError

__all__ = ["Captured", "SourceCapture", "lost_values", "open_pairs"]


@dataclass(frozen=True)
class Captured:
    """A table that is captured: its source and its silver table."""

    source: str
    """The source's name."""
    ref: TableRef
    silver: str
    """Name of the silver table."""
    takes: Callable[[str], bool] = lambda _: True
    """Test whether its connector captures a column, by its name at the source."""


class SourceCapture(Protocol):
    """Progress of capture with one source; see `TableCapture`."""

    def end(self, ref: TableRef) -> Any: ...

    def state(self, end: Any) -> CaptureState: ...


class _Connection:
    """The connection to one source, opened when it is needed and reopened when it was lost."""

    def __init__(
        self, endpoints: Endpoints, name: str, connect: Callable[[Endpoints, str], Source]
    ) -> None:
        self._endpoints = endpoints
        self._name = name
        self._connect = connect
        self._source: Source | None = None

    def open(self) -> Source:
        """Return the open connection. Raise UnavailableError if the source does not answer."""
        if self._source is None or self._source.closed:
            try:
                self._source = self._connect(self._endpoints, self._name)
            except LabError as error:
                if error.exit_code is not ExitCode.NOT_READY:
                    raise
                raise UnavailableError(self._service(), error.what) from None
        return self._source

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Raise UnavailableError when an error in the block ended the connection."""
        try:
            yield
        except LabError as error:
            if self._source is None or not self._source.closed:
                raise
            raise UnavailableError(self._service(), error.what) from None

    def read(self, ref: TableRef, takes: Callable[[str], bool]) -> Rows:
        """Read all rows, in the columns that `takes` lets through, named as in silver.

        Raise UnavailableError, or LabError if the table cannot be compared.
        """
        with self.answering():
            table = self.open().describe(ref)
            if not table.keys:
                raise LabError("the table has no primary key, so its rows cannot be told apart")
            rows = self.open().read(ref)
            # Counted before columns are left out: their names are the source's here.
            lost = tuple(
                f"{silver_column(name)}: {said}"
                for name, said in lost_values(self.open(), table, rows).items()
                if takes(name)
            )
            names = [*rows.column_names, *(column.name for column in table.unread)]
            rows = rows.select([name for name in rows.column_names if takes(name)])
            engine = self.open().engine
            problem = next(name_problems(ref, rows.column_names, {}, engine), None)
            if problem is not None:
                raise LabError(f"{problem.why}; {problem.change}")
            return Rows(
                rows.rename_columns([silver_column(name) for name in rows.column_names]),
                tuple(map(silver_column, table.keys)),
                tuple(
                    f"{silver_column(one.name)}: {one.type}"
                    for one in table.unread
                    if takes(one.name)
                ),
                lost,
                tuple(name for name in names if not takes(name)),
            )

    def _service(self) -> str:
        """Return the service that does not answer: the source's server."""
        return endpoint_of(self._endpoints, self._name).engine

    def close(self) -> None:
        if self._source is not None and not self._source.closed:
            self._source.close()


def lost_values(source: Source, table: SourceTable, rows: pa.Table) -> dict[str, str]:
    """Return, per column, which values of `table` silver has no form for; `rows` are its rows."""
    asked = [c for c in table.columns if c.rule.lost and rows[c.name].null_count]
    if not asked:
        return {}
    counts = ", ".join(
        f"SUM(CASE WHEN {c.rule.lost.format(source.quote(c.name))} THEN 1 ELSE 0 END)"
        for c in asked
    )
    ((*sums,),) = source.execute(f"SELECT {counts} FROM {source.qualified(table.ref)}")  # noqa: S608
    found = ((c, int(n)) for c, n in zip(asked, sums, strict=True) if n)
    return {c.name: f"{n:,} {c.rule.lost_as[n > 1]}" for c, n in found}


@dataclass(frozen=True)
class _TableCapture:
    """The capture of a source as one of its tables sees it."""

    source: SourceCapture
    connection: _Connection
    ref: TableRef

    def end(self) -> Any:
        with self.connection.answering():
            return self.source.end(self.ref)

    def state(self, end: Any) -> CaptureState:
        with self.connection.answering():
            return self.source.state(end)


@contextmanager
def open_pairs(
    endpoints: Endpoints,
    tables: Sequence[Captured],
    read_silver: Callable[[str], pa.Table | None],
    *,
    in_flight: Callable[[str], int | None] = lambda _: None,
    stopped: Callable[[str], str | None] = lambda _: None,
    capture: Callable[[str, Callable[[], Source]], SourceCapture] | None = None,
) -> Iterator[list[Pair]]:
    """Yield pairs for `verify`, with one connection per source database while the block runs.

    `read_silver`, `in_flight` and `stopped` receive the silver table's name; see `Pair` for what
    they return. `capture` receives a source's name and a function that returns an open connection
    to its server, whose log tells how far capture has come.
    """
    names = sorted({table.source for table in tables})
    connections = {name: _Connection(endpoints, name, connect) for name in names}
    servers = {name: _Connection(endpoints, name, connect_server) for name in names}
    captures = {s: capture(s, c.open) for s, c in servers.items()} if capture else {}

    def pair(table: Captured) -> Pair:
        connection, captured = connections[table.source], captures.get(table.source)
        return Pair(
            source_name=f"{table.source} {table.ref}",
            silver_name=table.silver,
            read_source=lambda: connection.read(table.ref, table.takes),
            read_silver=lambda: read_silver(table.silver),
            in_flight=lambda: in_flight(table.silver),
            stopped=lambda: stopped(table.silver),
            capture=_TableCapture(captured, servers[table.source], table.ref) if captured else None,
        )

    try:
        yield [pair(table) for table in tables]
    finally:
        for connection in (*connections.values(), *servers.values()):
            connection.close()
