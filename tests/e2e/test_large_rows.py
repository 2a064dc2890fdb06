"""Large rows: those that Kafka takes arrive whole, one that it does not take is named."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

import pytest

from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.lab.pipeline import read_pipeline
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from tests.e2e.wide_tables import WIDE, insert_row

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
OpenSource = Callable[[str], Source]
CHARACTERS = 1_000_000
COLUMNS = {"postgres": "c_text", "mysql": "c_longtext", "sqlserver": "c_varchar_max"}
CONNECTOR = "source_connector_postgres_kafka_avro_tickit"
WAIT_SECONDS = 300.0


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
