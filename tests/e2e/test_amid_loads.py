"""Services are killed in the middle of a first load, a schema change, a rebuild: all is right."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial

import pytest

from labctl.datasets import seed
from labctl.errors import LabError
from labctl.kafka.offsets import delete_records, end_offsets
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_slots import drop_slot, slot_of
from labctl.lab.connectors.connector_states import is_running, source_files
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lab.observe.service_status import read_status
from labctl.lab.tables.table_rebuild import rebuild_table
from labctl.lab.tables.table_requests import refill_table
from labctl.lake import Lake
from labctl.lake.objectstore import s3_client
from labctl.services import silver_service
from labctl.sources import TableRef, connect
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Faults
from seeds.tickit import DATA_SET
from sqlapi.table_format import State
from tests.e2e.fault_trial import Verify
from tests.e2e.test_schema_change import add_column
from tests.e2e.wide_tables import WIDE, insert_row

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("exact_snapshot"),
]

RECOVERY_SECONDS = 300.0
LARGEST = {"postgres": "event", "mysql": "listing", "sqlserver": "user"}
"""The table of each source that takes longest to load."""
LOADS = (
    ("sqlserver", "connect"),
    ("sqlserver", "kafka"),
    ("sqlserver", "silver"),
    ("sqlserver", "sqlserver"),
    ("sqlserver", "postgres"),
    ("mysql", "connect"),
    ("mysql", "mysql"),
    ("mysql", "objectstore"),
    ("postgres", "postgres"),
)
"""Source, and what is killed while it is loaded. The stand-in's rows are in PostgreSQL."""
CHANGES = ("silver", "connect", "kafka")


def is_sound(lab: Lab) -> bool:
    """Return whether every service answers and every source connector runs."""
    client = connect_client(lab.endpoints.connect)
    try:
        return read_status(lab).ready and all(
            is_running(client.status(file.name)) for file in source_files(lab)
        )
    except LabError:
        return False


@pytest.mark.soak
@pytest.mark.parametrize(("engine", "victim"), LOADS)
def test_a_service_is_killed_in_the_middle_of_a_first_load(
    engine: str,
    victim: str,
    lab: Lab,
    faults: Faults,
    eventually: Eventually,
    verify_equal: Verify,
) -> None:
    tables = [table for table in lab.tables if table.source == engine]
    table = lab.table(LARGEST[engine])
    name = lab.config.sources[table.source].connector
    file = next(file for file in source_files(lab) if file.name == name)
    # All of its rows: the load is to last until it is seen.
    seed(lab.endpoints, DATA_SET, only=(table.source_name,), reset=True)
    with connect(lab.endpoints, engine) as database:
        rows = database.count(TableRef(table.db_schema, table.source_name))
    client = connect_client(lab.endpoints.connect)
    # As before the first load: no position, no records, empty tables and no bronze files.
    client.forget_offsets(name)
    delete_records(lab.endpoints.kafka, [one.topic for one in tables])
    if (slot := slot_of(file)) is not None:
        drop_slot(lab, table.source, slot)
    for one in tables:
        refill_table(lab, one.name)

    def end() -> int:
        return sum(end_offsets(lab.endpoints.kafka, [table.topic])[table.topic].values())

    begin = end()

    def loads() -> bool:
        if victim == "silver":
            taken: dict[str, int] = silver_status(lab)["tables"][table.name]["offsets"]
            return end() >= begin + rows > sum(taken.values())
        now = end()
        if now >= begin + rows:
            pytest.fail(f"the load of {rows} rows was over before it was seen")
        return now > begin

    client.act(name, "resume")
    eventually(loads, seconds=RECOVERY_SECONDS)
    print(f"{victim} is killed with {end() - begin} of {rows} rows of {table.name} in Kafka")
    faults.kill(victim)
    eventually(partial(is_sound, lab), seconds=RECOVERY_SECONDS)
    eventually(lambda: end() >= begin + rows, seconds=RECOVERY_SECONDS)
    verify_equal(*(one.name for one in tables))


@pytest.mark.parametrize(
    "victim", [CHANGES[0], *(pytest.param(name, marks=pytest.mark.soak) for name in CHANGES[1:])]
)
def test_a_service_is_killed_with_a_schema_change_before_it(
    victim: str,
    lab: Lab,
    faults: Faults,
    eventually: Eventually,
    verify_equal: Verify,
    new_key: Callable[[], int],
) -> None:
    """It stands still until the change waits for it, and is killed as soon as it goes on."""
    table, key = WIDE["mysql"], new_key()
    topic = lab.table(table.silver).topic

    def end() -> int:
        return sum(end_offsets(lab.endpoints.kafka, [topic])[topic].values())

    before = end()
    with faults.paused(victim), connect(lab.endpoints, "mysql") as database:
        add_column(database, table, f"amid_{key}", "integer")
        insert_row(database, table, key, "typical")
        database.execute(f"UPDATE {table.ref} SET amid_{key} = 7 WHERE id = {key}")
        if victim == "silver":
            eventually(lambda: end() >= before + 2, seconds=RECOVERY_SECONDS)
    faults.kill(victim)
    eventually(partial(is_sound, lab), seconds=RECOVERY_SECONDS)
    verify_equal(table.silver)


def test_the_application_is_killed_in_the_middle_of_a_rebuild(
    lab: Lab, lake: Lake, faults: Faults, eventually: Eventually, verify_equal: Verify
) -> None:
    """It takes the request up again by itself, and undoes what it had begun."""
    table = lab.table("listing")

    def begun() -> bool:
        """Return whether a commit that replaces all rows is under way."""
        return any(
            instant.action == "replacecommit" and instant.state is not State.COMPLETED
            for instant in lake.instants(table.name)
        )

    verify_equal(table.name)
    assert not begun()
    with ThreadPoolExecutor(max_workers=1) as pool:
        rebuilt = pool.submit(rebuild_table, lab, table.name)
        eventually(begun, seconds=RECOVERY_SECONDS)
        faults.kill("silver")
        # Where the application had carried it out, it would have been no kill in the middle.
        assert _is_requested(lab, table.name), "the rebuild was over before the kill"
        rebuilt.result()
    assert not _is_requested(lab, table.name)
    eventually(partial(is_sound, lab), seconds=RECOVERY_SECONDS)
    verify_equal(table.name)
    assert not begun()


def _is_requested(lab: Lab, name: str) -> bool:
    """Return whether the request to rebuild a table is in the lake."""
    store = lab.endpoints.objectstore
    path = silver_service.options(lab.context(lab.service("silver"))).rebuild_request_path(name)
    key = path.removeprefix(f"s3a://{store.bucket}/")
    found = s3_client(store).list_objects_v2(Bucket=store.bucket, Prefix=key)
    return any(entry["Key"] == key for entry in found.get("Contents", []))


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["postgres", "mysql"])
def test_a_source_is_killed_in_the_middle_of_a_schema_change(
    engine: str,
    lab: Lab,
    faults: Faults,
    eventually: Eventually,
    verify_equal: Verify,
    new_key: Callable[[], int],
) -> None:
    """What it had not committed is not there, and the repeated change arrives."""
    table, key = WIDE[engine], new_key()
    column = f"amid_{key}"

    def change() -> None:
        with suppress(LabError), connect(lab.endpoints, engine) as database:
            add_column(database, table, column, "integer")

    with suppress(LabError), connect(lab.endpoints, engine) as holder, holder.transaction():
        # MySQL and PostgreSQL change no table that a transaction reads, and wait for its end.
        holder.execute(f"SELECT count(*) FROM {table.ref}")
        changing = threading.Thread(target=change)
        changing.start()
        eventually(partial(_waits, lab, engine), seconds=RECOVERY_SECONDS)
        faults.kill(engine)
        changing.join(RECOVERY_SECONDS)
        assert not changing.is_alive()
    eventually(partial(is_sound, lab), seconds=RECOVERY_SECONDS)
    with connect(lab.endpoints, engine) as database:
        assert column not in database.describe(table.ref).arrow.names
        add_column(database, table, column, "integer")
        insert_row(database, table, key, "typical")
        database.execute(f"UPDATE {table.ref} SET {column} = 7 WHERE id = {key}")
    verify_equal(table.silver)


def _waits(lab: Lab, engine: str) -> bool:
    """Return whether a change of a table is under way, and waits."""
    query = {
        "mysql": "SELECT count(*) FROM information_schema.processlist "
        "WHERE state = 'Waiting for table metadata lock'",
        "postgres": "SELECT count(*) FROM pg_stat_activity "
        "WHERE wait_event_type = 'Lock' AND query LIKE 'ALTER TABLE%'",
    }[engine]
    with connect(lab.endpoints, engine) as database:
        return bool(database.execute(query)[0][0])
