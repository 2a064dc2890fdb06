"""Large rows: those that Kafka takes arrive whole, one that it does not take is named."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from labctl.errors import ExitCode
from labctl.kafka.offsets import end_offsets
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import read_pipeline
from labctl.lab.observe.service_status import ServiceStatus, read_status
from labctl.lab.tables.verification import verify_lab
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Faults
from labctl.testing.plugin import SilverReader
from labctl.verify import State
from tests.e2e.wide_tables import WIDE, insert_row

pytestmark = pytest.mark.long

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
OpenSource = Callable[[str], Source]
CHARACTERS = 1_000_000
COLUMNS = {"postgres": "c_text", "mysql": "c_longtext", "sqlserver": "c_varchar_max"}
CONNECTOR = "source_connector_postgres_kafka_avro_tickit"
WAIT_SECONDS = 300.0
BACKLOG_ROWS = 200
"""Of each source."""
BACKLOG_SECONDS = 1800.0


def test_a_row_of_a_megabyte_from_each_source(
    source: OpenSource,
    silver: SilverReader,
    new_key: Callable[[], int],
    verify_equal: Callable[..., None],
) -> None:
    texts = {}
    for engine, table in WIDE.items():
        key = new_key()
        insert_row(source(engine), table, key, "typical")
        text = "".join(f"{engine} {n:08d};" for n in range(CHARACTERS))[:CHARACTERS]
        source(engine).execute(
            f"UPDATE {table.ref} SET {COLUMNS[engine]} = %s WHERE id = {key}", (text,)
        )
        texts[engine] = (key, text)
    verify_equal(*(table.silver for table in WIDE.values()))
    for engine, (key, text) in texts.items():
        (row,) = silver(WIDE[engine].silver, f"id = {key}")
        assert row[COLUMNS[engine]] == text
        # What follows in the session is spared them.
        source(engine).execute(f"DELETE FROM {WIDE[engine].ref} WHERE id = {key}")


@pytest.mark.soak
def test_a_backlog_of_rows_of_a_megabyte(
    lab: Lab,
    faults: Faults,
    source: OpenSource,
    new_key: Callable[[], int],
    eventually: Eventually,
) -> None:
    """What is read in one go is bounded by bytes: by rows, it would be more than the heap."""

    def application() -> ServiceStatus:
        return next(one for one in read_status(lab).services if one.name == "silver")

    names = [table.silver for table in WIDE.values()]
    keys = [new_key() for _ in range(BACKLOG_ROWS)]
    begin = {name: _records(lab, name) for name in names}
    with faults.away("silver"):
        for engine, table in WIDE.items():
            for key in keys:
                text = f"{key:09d};" * (CHARACTERS // 10)
                source(engine).execute(
                    f"INSERT INTO {table.ref} (id, {COLUMNS[engine]}) VALUES ({key}, %s)", (text,)
                )
        # All of it waits when the application begins: it does not read along.
        eventually(
            lambda: all(_records(lab, name) >= begin[name] + BACKLOG_ROWS for name in names),
            seconds=BACKLOG_SECONDS,
        )
    try:
        eventually(lambda: application().state == "ready", seconds=WAIT_SECONDS)
        before = application().restarts
        report = verify_lab(lab, names, timeout=BACKLOG_SECONDS)
        unequal = [str(one) for one in report.tables if one.state is not State.EQUAL]
        assert not unequal, "\n".join(unequal)
        assert application().restarts == before
    finally:
        for engine, table in WIDE.items():
            source(engine).execute(
                f"DELETE FROM {table.ref} WHERE id BETWEEN {min(keys)} AND {max(keys)}"
            )


def _records(lab: Lab, silver: str) -> int:
    """How many records the topic of a silver table has had."""
    topic = lab.table(silver).topic
    return sum(end_offsets(lab.endpoints.kafka, [topic])[topic].values())


@pytest.mark.usefixtures("exact_snapshot")
def test_a_row_that_is_too_large_for_kafka(
    lab: Lab,
    labctl: Labctl,
    source: OpenSource,
    silver: SilverReader,
    new_key: Callable[[], int],
    eventually: Eventually,
    verify_equal: Callable[..., None],
) -> None:
    table, postgres, key = WIDE["postgres"], source("postgres"), new_key()
    insert_row(postgres, table, key, "typical")
    postgres.execute(f"UPDATE {table.ref} SET c_text = repeat('x', 9000000) WHERE id = {key}")

    def said() -> str | None:
        problems = read_pipeline(lab).problems()
        return next((one for one in problems if CONNECTOR in one and "bytes" in one), None)

    problem = eventually(said, seconds=WAIT_SECONDS)
    assert problem is not None
    assert "a row of 9,0" in problem
    assert f"labctl connectors snapshot {CONNECTOR}" in problem
    postgres.execute(f"UPDATE {table.ref} SET c_text = 'small' WHERE id = {key}")
    done = labctl("connectors", "snapshot", CONNECTOR, "--lab", lab.name)
    assert done.returncode == ExitCode.OK, done.stderr
    verify_equal(*(one.name for one in lab.tables if one.engine == "postgres"))
    assert silver(table.silver, f"id = {key}")[0]["c_text"] == "small"
