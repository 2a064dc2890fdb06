"""A write load whose rows are numbered, so that a missing one can be named."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from labctl.config.endpoints import Endpoints
from labctl.errors import LabError
from labctl.sources import Source, connect

__all__ = ["TARGETS", "Load", "Target", "writing"]

PAUSE_SECONDS = 0.06
"""Between two transactions of a writer: the load is to be steady, and to leave the cores to what
comes back meanwhile."""
RECONNECT_SECONDS = 0.2
STOP_SECONDS = 240.0


@dataclass(frozen=True)
class Target:
    """The table a writer numbers rows in."""

    engine: str
    table: str
    silver: str
    key: str
    insert: str
    """Inserts row `{n}` unless it is there: a commit whose answer was lost is repeated."""
    update: str


TARGETS = (
    Target(
        "postgres",
        "ems.event",
        "event",
        "eventid",
        "INSERT INTO ems.event VALUES ({n}, 1, 1, 1827, 'row {n} 🎫', '2008-01-01 20:00') "
        "ON CONFLICT DO NOTHING",
        "UPDATE ems.event SET venueid = venueid % 200 + 1 WHERE eventid = {n}",
    ),
    Target(
        "mysql",
        "ecomm.sale",
        "sale",
        "salesid",
        "INSERT IGNORE INTO ecomm.sale VALUES "
        "({n}, 1, 1, 1, 1, 1827, 1, 10.00, 1.50, '2008-01-01 20:00')",
        "UPDATE ecomm.sale SET qtysold = qtysold % 100 + 1 WHERE salesid = {n}",
    ),
    Target(
        "sqlserver",
        "crm.user",
        "user",
        "userid",
        "IF NOT EXISTS (SELECT 1 FROM crm.[user] WHERE userid = {n}) "
        "INSERT INTO crm.[user] (userid, firstname, city) VALUES ({n}, N'row {n} 🎫', N'Bern')",
        "UPDATE crm.[user] SET likesports = CASE WHEN likesports = 1 THEN 0 ELSE 1 END "
        "WHERE userid = {n}",
    ),
)


@dataclass
class Load:
    """One writer per database; what it has committed, by number."""

    endpoints: Endpoints
    first: int
    seed: int
    committed: dict[str, int] = field(default_factory=lambda: {t.silver: 0 for t in TARGETS})
    """By silver table, how many rows from `first` on are committed."""
    failures: list[str] = field(default_factory=list)
    """What ended a writer other than a database that did not answer."""
    _stop: threading.Event = field(default_factory=threading.Event)

    def numbers(self, target: Target) -> range:
        """Keys of the rows that are committed."""
        return range(self.first, self.first + self.committed[target.silver])

    def run(self, target: Target) -> None:
        """Write until stopped, over a new connection whenever one is lost."""
        chance = random.Random(f"{self.seed} {target.silver}")  # noqa: S311 - not a secret
        while not self._stop.is_set():
            try:
                with connect(self.endpoints, target.engine) as source:
                    self._write(source, target, chance)
            except LabError:
                self._stop.wait(RECONNECT_SECONDS)
            except Exception as error:
                self.failures.append(f"{target.engine}: {error!r}")
                return

    def stop(self) -> None:
        self._stop.set()

    def _write(self, source: Source, target: Target, chance: random.Random) -> None:
        while not self._stop.wait(PAUSE_SECONDS):
            number = self.first + self.committed[target.silver]
            source.execute(target.insert.format(n=number))
            self.committed[target.silver] += 1
            if chance.random() < 0.5:
                earlier = chance.randint(self.first, number)
                source.execute(target.update.format(n=earlier))


@contextmanager
def writing(endpoints: Endpoints, *, first: int, seed: int) -> Iterator[Load]:
    """Write numbered rows to every source database for as long as the block runs."""
    print(f"load from {first}, seed {seed}")
    load = Load(endpoints, first, seed)
    writers = [
        threading.Thread(target=load.run, args=(target,), name=f"write {target.table}")
        for target in TARGETS
    ]
    for writer in writers:
        writer.start()
    try:
        yield load
    finally:
        load.stop()
        for writer in writers:
            writer.join(STOP_SECONDS)
    assert not load.failures, load.failures
    assert not any(writer.is_alive() for writer in writers)
