"""What is stored gets broken: it is named with the command that repairs it, and that one does."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial

import pytest

from labctl.errors import ExitCode, LabError
from labctl.kafka.offsets import end_offsets
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_slots import drop_slot, slot_of
from labctl.lab.connectors.source_files import source_files
from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import read_pipeline
from labctl.lake import Lake
from labctl.sources import Source, connect_server
from labctl.testing.eventually import Eventually
from labctl.testing.lab_faults import Damage, Faults
from labctl.testing.plugin import SilverReader
from tests.e2e.bronze_check import check_bronze
from tests.e2e.wide_tables import WIDE, insert_row

pytestmark = [
    pytest.mark.long,
    pytest.mark.usefixtures("exact_snapshot"),
]

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]
Verify = Callable[..., None]
OpenSource = Callable[[str], Source]
WAIT_SECONDS = 300.0
LOAD_SECONDS = 600.0
CONNECTORS = {
    "postgres": "source_connector_postgres_kafka_avro_tickit",
    "mysql": "source_connector_mysql_kafka_avro_tickit",
    "sqlserver": "source_connector_mssql_kafka_avro_tickit",
}
OF = {"postgres": "category", "mysql": "fleeting", "sqlserver": "user"}
"""A small table of each source."""


def told(done: subprocess.CompletedProcess[str], *words: str) -> None:
    """The command failed with a message that has all of `words`."""
    assert done.returncode != ExitCode.OK, done.stdout
    said = " ".join((done.stdout + done.stderr).split())
    for word in words:
        assert word in said, said


def done_well(done: subprocess.CompletedProcess[str]) -> None:
    assert done.returncode == ExitCode.OK, done.stderr


@pytest.fixture
def problem(lab: Lab, eventually: Eventually) -> Callable[..., str]:
    """`problem("sale")`: what `status` says of it, once it says something with all of the words."""

    def wait(*words: str) -> str:
        def find() -> str | None:
            problems = read_pipeline(lab).problems()
            return next((p for p in problems if all(word in p for word in words)), None)

        found = eventually(find, seconds=WAIT_SECONDS)
        assert found is not None
        return found

    return wait


def test_a_base_file_that_is_lost(
    lab: Lab, faults: Faults, labctl: Labctl, verify_equal: Verify
) -> None:
    """Without it, fewer rows would be shown, or those of the version before."""
    lost = faults.corrupt(Damage.BASE_FILE, "date").rpartition("/")[2]
    told(
        labctl("query", "SELECT count(*) FROM date", "--lab", lab.name), lost, "rebuild tickit.date"
    )
    told(labctl("verify", "date", "--lab", lab.name), lost, "rebuild tickit.date")
    done_well(labctl("table", "rebuild", "date", "--lab", lab.name))
    verify_equal("date")


@pytest.mark.soak
def test_a_flipped_bit_of_a_log_file(
    lab: Lab,
    lake: Lake,
    faults: Faults,
    labctl: Labctl,
    source: OpenSource,
    silver: SilverReader,
    eventually: Eventually,
    verify_equal: Verify,
) -> None:
    """The object store's own checksums keep wrong values from being read."""
    source("postgres").execute("UPDATE ems.event SET eventname = 'flipped' WHERE eventid = 1")
    eventually(
        lambda: silver("event", "eventid = 1 AND eventname = 'flipped'"),
        row=("event", {"eventid": 1}),
    )
    try:
        flipped = faults.corrupt(Damage.LOG_FILE, "event").rpartition("/")[2]
    except LabError as error:
        pytest.skip(str(error))
    with pytest.raises(LabError) as raised:
        lake.read("event")
    assert flipped in raised.value.what
    assert "labctl table rebuild tickit.event" in str(raised.value.hint)
    done_well(labctl("table", "rebuild", "event", "--lab", lab.name))
    verify_equal("event")


def test_a_bronze_file_that_is_cut_short(
    lab: Lab, faults: Faults, labctl: Labctl, eventually: Eventually, verify_equal: Verify
) -> None:
    topic = lab.table("venue").topic
    done_well(labctl("topics", "bronze", "check", topic, "--lab", lab.name))
    cut = faults.corrupt(Damage.BRONZE_FILE, "venue")
    check = labctl("topics", "bronze", "check", topic, "--lab", lab.name)
    assert check.returncode == ExitCode.DIFFERENT
    told(check, cut, "rebuild tickit.venue --from-topic")
    told(labctl("table", "rebuild", "venue", "--lab", lab.name), cut, "--from-topic")
    verify_equal("venue")  # Nothing was changed.
    done_well(labctl("table", "rebuild", "venue", "--from-topic", "--lab", lab.name))
    verify_equal("venue")
    eventually(
        lambda: (
            labctl("topics", "bronze", "check", topic, "--lab", lab.name).returncode == ExitCode.OK
        ),
        seconds=WAIT_SECONDS,
    )
    done_well(labctl("table", "rebuild", "venue", "--lab", lab.name))
    verify_equal("venue")


@pytest.mark.soak
def test_a_schema_that_the_registry_has_lost(
    lab: Lab,
    faults: Faults,
    source: OpenSource,
    verify_equal: Verify,
    eventually: Eventually,
) -> None:
    """The application remembers it; the converter registers it again when it starts again."""
    faults.corrupt(Damage.SCHEMA, "category")
    faults.kill("silver")
    postgres = source("postgres")
    postgres.execute("UPDATE ems.category SET catdesc = catdesc || '.' WHERE catid = 1")
    verify_equal("category")
    client, name = connect_client(lab.endpoints.connect), CONNECTORS["postgres"]
    client.act(name, "restart")
    postgres.execute("UPDATE ems.category SET catdesc = catdesc || '.' WHERE catid = 2")
    verify_equal("category")


@pytest.mark.soak
def test_records_that_kafka_has_lost(
    lab: Lab,
    faults: Faults,
    labctl: Labctl,
    source: OpenSource,
    eventually: Eventually,
    problem: Callable[..., str],
    verify_equal: Verify,
) -> None:
    """Those that silver has not taken in are in no other place but the source."""
    topic = lab.table("category").topic

    def end() -> int:
        return sum(end_offsets(lab.endpoints.kafka, [topic])[topic].values())

    with faults.away("silver"):
        before = end()
        source("postgres").execute("UPDATE ems.category SET catdesc = 'lost' WHERE catid = 3")
        eventually(lambda: end() > before, seconds=WAIT_SECONDS)
        faults.corrupt(Damage.RECORDS, "category")
    said = problem("table tickit.category", "no longer in Kafka")
    assert "labctl table rebuild tickit.category --from-topic" in said
    done_well(labctl("connectors", "snapshot", CONNECTORS["postgres"], "--lab", lab.name))
    done_well(labctl("table", "rebuild", "category", "--from-topic", "--lab", lab.name))
    verify_equal("category", "venue")


@pytest.mark.parametrize(
    "engine",
    ["postgres", *(pytest.param(e, marks=pytest.mark.soak) for e in ("mysql", "sqlserver"))],
)
def test_offsets_that_kafka_connect_has_lost(
    engine: str, faults: Faults, lab: Lab, eventually: Eventually, verify_equal: Verify
) -> None:
    """The connector loads its tables again, by itself."""
    faults.corrupt(Damage.OFFSETS, OF[engine])
    client = connect_client(lab.endpoints.connect)
    eventually(partial(client.offsets, CONNECTORS[engine]), seconds=WAIT_SECONDS)
    verify_equal(*(table.name for table in lab.tables if table.source == engine))


@pytest.mark.soak
@pytest.mark.parametrize("engine", ["mysql", "sqlserver"])
def test_a_schema_history_that_is_lost(
    engine: str,
    lab: Lab,
    faults: Faults,
    labctl: Labctl,
    problem: Callable[..., str],
    source: OpenSource,
    silver: SilverReader,
    new_key: Callable[[], int],
    verify_equal: Verify,
) -> None:
    """And with it the deletes since the connector stopped, which no snapshot shows."""
    name, table = CONNECTORS[engine], WIDE[engine]
    gone, stays = new_key(), new_key()
    for key in (gone, stays):
        insert_row(source(engine), table, key, "typical")
    verify_equal(table.silver)
    faults.corrupt(Damage.SCHEMA_HISTORY, OF[engine])
    connect_client(lab.endpoints.connect).act(name, "restart")
    assert f"labctl connectors snapshot {name}" in problem(name, "schema history")
    # Nobody reads this from the log: the snapshot begins behind it.
    source(engine).execute(f"DELETE FROM {table.ref} WHERE id = {gone}")
    done_well(labctl("connectors", "snapshot", name, "--lab", lab.name))
    verify = labctl("verify", table.silver, "--lab", lab.name)
    assert verify.returncode == ExitCode.DIFFERENT
    told(verify, f"extra id={gone}", f"connectors snapshot {name} --start-over")
    done_well(labctl("connectors", "snapshot", name, "--start-over", "--lab", lab.name))
    verify_equal(*(table.name for table in lab.tables if table.source == engine))
    assert silver(table.silver, f"id = {stays}")


@pytest.mark.soak
@pytest.mark.parametrize("engine", CONNECTORS)
def test_a_log_that_a_source_no_longer_has(
    engine: str,
    lab: Lab,
    labctl: Labctl,
    problem: Callable[..., str],
    source: OpenSource,
    silver: SilverReader,
    new_key: Callable[[], int],
    eventually: Eventually,
    verify_equal: Verify,
) -> None:
    """The connector was away for longer than its source keeps changes."""
    name, table, database, missed = CONNECTORS[engine], WIDE[engine], source(engine), new_key()
    verify_equal(table.silver)
    client = connect_client(lab.endpoints.connect)
    client.act(name, "stop")
    eventually(lambda: client.status(name)["connector"]["state"] == "STOPPED", seconds=WAIT_SECONDS)
    insert_row(database, table, missed, "typical")
    if engine == "postgres":
        file = next(file for file in source_files(lab) if file.name == name)
        slot = slot_of(file)
        assert slot is not None
        assert drop_slot(lab, engine, slot)
    else:
        forget = {"mysql": _purge_binary_log, "sqlserver": _clean_change_tables}[engine]
        with connect_server(lab.endpoints, engine) as server:
            eventually(partial(forget, server), seconds=WAIT_SECONDS)
    client.act(name, "resume")
    assert f"labctl connectors snapshot {name}" in problem(name, "missed changes")
    done_well(labctl("connectors", "snapshot", name, "--lab", lab.name))
    verify_equal(*(table.name for table in lab.tables if table.source == engine))
    assert silver(table.silver, f"id = {missed}")


def _purge_binary_log(mysql: Source) -> bool:
    """Begin a new file and drop all others; False while somebody still reads one."""
    mysql.execute("FLUSH BINARY LOGS")
    ((newest, *_),) = mysql.execute("SHOW BINARY LOG STATUS")
    mysql.execute(f"PURGE BINARY LOGS TO '{newest}'")
    return len(mysql.execute("SHOW BINARY LOGS")) == 1


def _clean_change_tables(sqlserver: Source) -> bool:
    """The cleanup job takes all changes but the last transaction's; it keeps three days else."""
    job = "EXEC sys.sp_cdc_change_job @job_type = N'cleanup', @retention = "
    sqlserver.execute(f"{job}0")
    try:
        sqlserver.execute("EXEC sys.sp_cdc_start_job N'cleanup'")
    finally:
        sqlserver.execute(f"{job}4320")
    return bool(sqlserver.execute("SELECT COUNT(*) FROM cdc.lsn_time_mapping")[0][0] == 1)


@pytest.mark.soak
def test_kafka_that_has_lost_its_data(
    lab: Lab,
    faults: Faults,
    labctl: Labctl,
    problem: Callable[..., str],
    source: OpenSource,
    new_key: Callable[[], int],
    eventually: Eventually,
    verify_equal: Verify,
) -> None:
    """Topics, connectors and positions are gone. One command loads everything again."""
    table, gone, new = WIDE["mysql"], new_key(), new_key()
    insert_row(source("mysql"), table, gone, "typical")
    verify_equal(table.silver)
    faults.lose_data("kafka")
    # Nobody reads these from the log.
    source("mysql").execute(f"DELETE FROM {table.ref} WHERE id = {gone}")
    insert_row(source("mysql"), table, new, "typical")
    assert "labctl connectors apply --start-over" in problem(
        "Kafka has lost", lab.table("sale").topic
    )
    done_well(
        labctl("connectors", "apply", "--start-over", "--lab", lab.name, seconds=LOAD_SECONDS)
    )
    verify_equal()
    # The new offsets start again, and no file of before is among those of the new topics.
    for one in lab.tables:
        eventually(partial(_is_in_bronze, lab, one.topic), seconds=WAIT_SECONDS)
    status = labctl("status", "--lab", lab.name)
    assert status.returncode == ExitCode.OK, status.stdout


def _is_in_bronze(lab: Lab, topic: str) -> bool:
    """Return whether bronze has every record that the topic has, and no other."""
    try:
        check_bronze(lab.endpoints, topic)
    except LabError:
        return False  # no file yet
    return True
