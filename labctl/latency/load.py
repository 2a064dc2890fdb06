"""The load of a scenario: changes from writers, or the connectors' snapshot."""

from __future__ import annotations

import queue
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Self

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connect_client import ConnectClient
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import wait_running
from labctl.latency.latency_plan import Change, Kind, plan_changes
from labctl.latency.preparing import PreparedLab
from labctl.latency.scenario import Changes
from labctl.latency.targets import Target, describe_target
from labctl.latency.writing import Committed, Writer, prepare_rows, remove_rows
from labctl.sources import connect

__all__ = ["ChangeLoad", "Load", "SnapshotLoad"]

_LOWEST_KEY = -(2**63)


class Load(ABC):
    """A context manager that removes the rows it made in the sources when it exits."""

    targets: Sequence[Target]
    first_keys: dict[str, int]
    """Lowest key of the run's rows, by silver table."""
    planned: int
    """Number of changes, all tables together."""
    prepared: int = 0
    """Number of rows created before the first change."""
    warm_up: int = 0
    """Number of first changes of each table that are excluded from the times."""

    def __enter__(self) -> Self:
        return self

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def prepare(self) -> None:
        """Create the rows that will be changed."""

    @abstractmethod
    def start(self) -> None:
        """Begin to make changes, on other threads."""

    @abstractmethod
    def stop(self) -> None:
        """Stop early, after the transactions in progress."""

    @abstractmethod
    def is_done(self) -> bool:
        """Return whether everything is committed. Raises the error that prevented it."""

    @abstractmethod
    def committed(self) -> Iterator[Committed]:
        """Yield the transactions committed since the last call."""


class ChangeLoad(Load):
    """Changes made by one writer per table."""

    def __init__(self, at: PreparedLab, changes: Changes, *, seed: int) -> None:
        self._endpoints = at.lab.endpoints
        self._changes = changes
        self._done: queue.SimpleQueue[Committed] = queue.SimpleQueue()
        self.targets = []
        self.first_keys = {}
        for table in at.tables:
            if changes.deletes and table.properties.deletes == "hard":
                raise LabError(
                    f"Deletes of {table.name} cannot be followed: it is set to lab.deletes=hard",
                    hint="run a scenario without deletes, or name another table with --table",
                    exit_code=ExitCode.USAGE,
                )
            with connect(self._endpoints, table.source) as source:
                target = describe_target(table, source)
                self.first_keys[target.silver] = target.first_key(source)
                self.targets.append(target)
        self.planned = changes.count * len(self.targets)
        self.prepared = changes.rows * len(self.targets)
        self.warm_up = changes.warm_up
        self._writers = [
            Writer(
                self._endpoints,
                target,
                plan_changes(
                    changes,
                    first_key=self.first_keys[target.silver],
                    seed=f"{seed} {target.silver}",
                ),
                self._done,
            )
            for target in self.targets
        ]

    def __exit__(self, *_: object) -> None:
        for target in self.targets:
            with connect(self._endpoints, target.source) as source:
                remove_rows(source, target, self.first_keys[target.silver])

    def prepare(self) -> None:
        for target in self.targets:
            first = self.first_keys[target.silver]
            with connect(self._endpoints, target.source) as source:
                prepare_rows(source, target, first, self._changes.rows)

    def start(self) -> None:
        begin = time.monotonic()
        for writer in self._writers:
            writer.start(begin)

    def stop(self) -> None:
        for writer in self._writers:
            writer.stop()

    def is_done(self) -> bool:
        return all(writer.is_done() for writer in self._writers)

    def committed(self) -> Iterator[Committed]:
        while not self._done.empty():
            yield self._done.get()


class SnapshotLoad(Load):
    """A snapshot: the source connectors forget their offsets and read their tables again."""

    def __init__(self, at: PreparedLab) -> None:
        sources = at.lab.config.sources
        self._client = connect_client(at.lab.endpoints.connect)
        names = dict.fromkeys(table.source for table in at.tables)
        self._connectors = [sources[name].connector for name in names]
        self.targets = []
        self._keys: dict[str, list[int]] = {}
        for table in at.tables:
            with connect(at.lab.endpoints, table.source) as source:
                target = describe_target(table, source, snapshot=True)
                self._keys[target.silver] = target.all_keys(source)
                self.targets.append(target)
        self.first_keys = {target.silver: _LOWEST_KEY for target in self.targets}
        self.planned = sum(len(keys) for keys in self._keys.values())
        self._begun: float | None = None

    def __exit__(self, *_: object) -> None:
        """Do nothing: this load creates no rows."""

    def prepare(self) -> None:
        """Do nothing: the rows exist already."""

    def stop(self) -> None:
        """Do nothing: the connectors finish their snapshot, which is incomplete until its end."""

    def start(self) -> None:
        if not isinstance(self._client, ConnectClient):
            raise LabError(
                "Connectors of MSK Connect cannot be made to forget where they were",
                hint="run the snapshot scenario on a lab of this machine",
                exit_code=ExitCode.USAGE,
            )
        for name in self._connectors:
            self._client.forget_offsets(name)
        self._begun = time.time()
        for name in self._connectors:
            self._client.act(name, "resume")
        wait_running(self._client, self._connectors)

    def is_done(self) -> bool:
        return self._begun is not None

    def committed(self) -> Iterator[Committed]:
        """Yield every row once; its commit time is when the connectors were told to begin."""
        keys, self._keys = self._keys, {}
        for table, numbers in keys.items():
            assert self._begun is not None  # noqa: S101 - nothing is asked before the start
            changes = tuple(Change(key, Kind.READ, key) for key in numbers)
            yield Committed(table, changes, self._begun, self._begun)
