"""A table whose connector loads it again, or is restarted, while it changes ends equal.

Or a next step makes it equal.
"""

from __future__ import annotations

import random
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa
import pytest

from labctl.engine_names import EngineName
from labctl.errors import ExitCode
from labctl.kafka.offsets import end_offsets
from labctl.kafkaconnect.opening import connect_client
from labctl.sources import Source, TableRef, connect
from tests.e2e.capture_instances import recapture
from tests.integration.own_project import OwnProject, own_project, own_source
from tests.waiting import wait_for

pytestmark = pytest.mark.long

ROWS = 20_000
"""So many that a backfill takes seconds: Debezium reads about a thousand rows at a time."""
CREATE = "CREATE TABLE {schema}.big (id integer NOT NULL PRIMARY KEY, n integer, v varchar(40))"
ENGINES: tuple[EngineName, ...] = ("postgres", "mysql", "sqlserver")

OPEN = ("postgres", "mysql")
"""Engines that let a captured table be truncated."""


@dataclass(frozen=True)
class Big:
    """One engine's table, full of rows that are in silver."""

    project: OwnProject
    engine: EngineName

    @property
    def ref(self) -> TableRef:
        table = self.project.table(self.engine, "big")
        return TableRef(table.db_schema, table.source_name)

    @property
    def silver(self) -> str:
        return self.project.table(self.engine, "big").name

    def execute(self, *statements: str) -> None:
        self.project.execute(self.engine, *(one.format(t=self.ref) for one in statements))

    @property
    def connector(self) -> str:
        return f"source_connector_of-{self.engine}"

    def records(self) -> int:
        """Return how many records its topic has."""
        topic = self.project.table(self.engine, "big").topic
        return sum(end_offsets(self.project.lab.endpoints.kafka, [topic])[topic].values())

    def fill(self) -> None:
        """Have all rows in the table, and wait until they are in silver."""
        with connect(self.project.lab.endpoints, f"of-{self.engine}") as source:
            if source.count(self.ref) < ROWS:
                source.execute(f"DELETE FROM {self.ref}")
                self.insert(source, range(ROWS))
        self.project.verified(self.silver)

    def insert(self, source: Source, keys: range) -> None:
        """Insert a row for each key, all by one statement."""
        ids, texts = pa.array(keys, pa.int32()), pa.array(["first"] * len(keys), pa.string())
        source.insert(self.ref, pa.table({"id": ids, "n": ids, "v": texts}))

    @contextmanager
    def loading(self) -> Iterator[subprocess.Popen[str]]:
        """Begin a backfill; the block runs once it has read some rows, and before it has all."""
        before = self.records()
        process = self.project.start("connectors", "backfill", self.silver)
        try:
            wait_for(lambda: self.records() > before or process.poll() is not None)
            assert process.poll() is None, process.communicate()[0]
            yield process
        finally:
            process.kill()
            process.wait()

    def load(self) -> None:
        assert "loaded again" in self.project.run("connectors", "backfill", self.silver)


@pytest.fixture(scope="module")
def project() -> Iterator[OwnProject]:
    with own_project(*(own_source(name, [CREATE], {"big": ["id"]}) for name in ENGINES)) as made:
        yield made


@pytest.fixture(params=ENGINES)
def big(request: pytest.FixtureRequest, project: OwnProject) -> Big:
    big = Big(project, request.param)
    big.fill()
    return big


def ended(process: subprocess.Popen[str], code: ExitCode = ExitCode.OK) -> str:
    output, _ = process.communicate()
    assert process.returncode == code, output
    return output


def test_rows_change_meanwhile(big: Big) -> None:
    seed = random.randrange(2**32)  # noqa: S311 - not a secret
    print(f"seed {seed}")
    draw, over, written = random.Random(seed), threading.Event(), 0  # noqa: S311

    def write() -> None:
        nonlocal written
        with connect(big.project.lab.endpoints, f"of-{big.engine}") as source:
            while not over.is_set():
                key, new = draw.randrange(ROWS), ROWS + written
                for statement in (
                    f"UPDATE {big.ref} SET n = -{new}, v = 'changed' WHERE id = {key}",
                    f"DELETE FROM {big.ref} WHERE id = {draw.randrange(ROWS)}",
                    f"INSERT INTO {big.ref} VALUES ({new}, {new}, 'new')",
                    f"DELETE FROM {big.ref} WHERE id = {new}" if new % 2 else "SELECT 1",
                    f"UPDATE {big.ref} SET id = -{new} WHERE id = {draw.randrange(ROWS)}",
                ):
                    source.execute(statement)
                written += 1

    with big.loading() as process:
        writer = threading.Thread(target=write)
        writer.start()
        try:
            ended(process)
        finally:
            over.set()
            writer.join()
    assert written > 10
    big.project.verified(big.silver)


def test_its_connector_is_restarted_amid_many_new_rows(big: Big) -> None:
    """All rows that PostgreSQL's COPY writes to one page have one position in its log."""
    keys, before = range(ROWS, 3 * ROWS), big.records()
    with connect(big.project.lab.endpoints, f"of-{big.engine}") as source:
        big.insert(source, keys)
        wait_for(lambda: big.records() > before)
        sent = big.records() - before
        connect_client(big.project.lab.endpoints.connect).act(big.connector, "restart")
        assert sent < len(keys), "all rows were sent before the restart"
        found = big.project.verified(big.silver)
        assert found[big.silver]["silver_rows"] == source.count(big.ref)
    big.execute(f"DELETE FROM {{t}} WHERE id >= {ROWS}")


def test_interrupted_it_ends_and_can_be_asked_again(big: Big) -> None:
    with big.loading() as process:
        process.send_signal(signal.SIGINT)
        said = ended(process, ExitCode.INTERRUPTED)
    assert "Traceback" not in said
    big.execute("UPDATE {t} SET v = 'streamed' WHERE id < 10", "DELETE FROM {t} WHERE id = 11")
    big.project.verified(big.silver)
    assert "RUNNING" in big.project.run("status")
    big.load()
    big.project.verified(big.silver)


def test_a_column_is_added_meanwhile(big: Big) -> None:
    """MySQL's connector reads on; the others cannot, if they are not at the end by then."""
    with big.loading() as process:
        big.execute("ALTER TABLE {t} ADD w integer DEFAULT 7 NOT NULL")
        said, _ = process.communicate()
    if process.returncode != ExitCode.OK:
        assert big.engine != "mysql"
        assert process.returncode == ExitCode.FAILED
        assert "its columns changed while it was read" in said
        assert f"labctl connectors backfill {big.silver}" in said
    with connect(big.project.lab.endpoints, f"of-{big.engine}") as source:
        recapture(source, big.ref)
    assert "RUNNING" in big.project.run("status")
    big.load()
    found = big.project.verified(big.silver)
    assert found[big.silver]["columns_missing"] == []


@pytest.mark.parametrize("big", OPEN, indirect=True)
def test_the_table_is_truncated_meanwhile(big: Big) -> None:
    with big.loading() as process:
        big.execute("TRUNCATE TABLE {t}", "INSERT INTO {t} (id, n, v) VALUES (1, 1, 'after')")
        ended(process)
    verify = big.project.start("verify", big.silver)
    said, _ = verify.communicate()
    if verify.returncode == ExitCode.DIFFERENT:
        # Rows of the part that was being read may stay (docs/schema-changes.md).
        print(said)
        big.project.run("connectors", "snapshot", big.connector, "--start-over")
    assert big.project.verified(big.silver)[big.silver]["silver_rows"] == 1
