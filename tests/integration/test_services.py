"""Each service: it comes up, dies, comes back, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
import pytest
import requests
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic
from pydantic import SecretStr

from labctl.artifacts import default_cache
from labctl.config.kafka_clients import client_settings
from labctl.config.lab_config import find_project
from labctl.errors import LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.down import destroy, down
from labctl.lab.observe.service_status import ServiceStatus, read_status
from labctl.lake.objectstore import s3_client
from labctl.runtimes.compose.docker_engine import COMPOSE_FOLDER
from labctl.runtimes.native.families import family_of, still_there
from labctl.runtimes.native.native_runtime import NativeRuntime
from labctl.services.cache_service import PASSWORD_FILE, Cache, ask
from labctl.services.lab_services import SERVICES
from labctl.sources import connect
from labctl.state.lab_state import state_home as labs_home
from labctl.testing.disk import DiskUnavailableError, LoopDisk, loop_disk
from tests.integration.conftest import NewLab, Up
from tests.waiting import wait_for

NEEDED = {
    "postgres": {"postgres"},
    "mysql": {"mysql"},
    "sqlserver": {"postgres", "sqlserver"},
    "kafka": {"kafka"},
    "connect": {"kafka", "connect"},
    "registry": {"postgres", "registry"},
    "objectstore": {"objectstore"},
    "silver": {"kafka", "postgres", "registry", "objectstore", "silver"},
    "sqlapi": {"postgres", "objectstore", "sqlapi"},
    "metastore": {"postgres", "metastore"},
    "thriftserver": {"postgres", "objectstore", "metastore", "thriftserver"},
    "cache": {"cache"},
    "api": {"postgres", "objectstore", "sqlapi", "cache", "api"},
}
"""What runs when a service is started alone."""
WAIT_SECONDS = 300
ORDINARY_USER = "nobody"
DISK_MEBIBYTES = 4096  # sparse: what `up` wants to see free
ACKNOWLEDGED = 50
OBJECT_BYTES = 300_000
"""More than MinIO keeps in the file of an object's metadata."""
TOPIC = "numbers"


def status_of(lab: Lab, name: str) -> ServiceStatus:
    return next(s for s in read_status(lab).services if s.name == name)


def supervisor_of(lab: Lab) -> psutil.Process:
    return psutil.Process(int((lab.state.folder / "supervisord.pid").read_text()))


def test_every_service_is_tried_here_and_asks_for_what_it_needs() -> None:
    asked = {service.name: service.depends_on for service in SERVICES}

    def needed(name: str) -> set[str]:
        return {name}.union(*map(needed, asked[name]))

    assert {name: needed(name) for name in asked} == NEEDED


def processes_of(lab: Lab) -> list[psutil.Process]:
    """Every process of the lab, its supervisor first."""
    assert isinstance(lab.runtime, NativeRuntime)
    return lab.runtime.supervisor.processes()


def test_each_service_comes_up_with_what_it_needs_and_comes_back_when_killed(
    new_lab: NewLab, start: Up
) -> None:
    """One after the other in one lab, where each finds what was started before it."""
    lab = new_lab("each")
    running: set[str] = set()
    for name, needed in NEEDED.items():
        print(name)
        running |= needed
        versions = start(lab, name)
        assert set(versions) == needed
        assert {n for n, state in lab.runtime.states().items() if state.running} == running
        _comes_back(lab, name)
        assert start(lab, name) == versions
    down(lab)
    assert processes_of(lab) == []


def _comes_back(lab: Lab, name: str) -> None:
    before = status_of(lab, name)
    assert (before.state, before.restarts) == ("ready", 0)
    assert before.pid is not None
    assert before.memory_bytes > 0
    family = family_of(before.pid)
    known = {process.pid for process in processes_of(lab)}
    assert before.pid in known
    # PostgreSQL's say nothing of the lab themselves.
    assert still_there([one for one in family if one.pid not in known], seconds=5) == []

    os.kill(before.pid, signal.SIGKILL)

    def back() -> bool:
        now = status_of(lab, name)
        return now.state == "ready" and now.restarts > 0 and now.pid != before.pid

    wait_for(back)


def test_no_request_to_the_registry_fails_once_postgresql_is_back(
    new_lab: NewLab, start: Up
) -> None:
    """Not by a connection from before, of which its pool has several."""
    lab = new_lab("pool")
    start(lab, "registry")
    url = f"{lab.endpoints.registry.url}/apis/registry/v2/search/artifacts"

    def ask(_: int) -> int:
        return requests.get(url, params={"limit": "1"}, timeout=30).status_code

    def can_connect() -> bool:
        with suppress(LabError), connect(lab.endpoints, "postgres"):
            return True
        return False

    with ThreadPoolExecutor(4) as several:
        assert set(several.map(ask, range(40))) == {200}
        before = status_of(lab, "postgres").pid
        assert before is not None
        os.kill(before, signal.SIGKILL)
        wait_for(lambda: not psutil.pid_exists(before) and can_connect())
        assert set(several.map(ask, range(40))) == {200}


@pytest.mark.long
def test_ports_and_data_are_kept(new_lab: NewLab, start: Up) -> None:
    start(new_lab("kept"), "postgres", "mysql")
    lab = new_lab("kept")
    ports = lab.ports
    for engine in ("postgres", "mysql"):
        with connect(lab.endpoints, engine) as source:
            source.execute("CREATE TABLE kept (id integer PRIMARY KEY)")
            source.execute("INSERT INTO kept VALUES (7)")
    down(lab)
    assert not lab.running

    again = new_lab("kept")
    start(again, "postgres", "mysql")
    assert again.ports == ports
    for engine in ("postgres", "mysql"):
        with connect(again.endpoints, engine) as source:
            assert source.execute("SELECT id FROM kept") == [(7,)]


def test_starting_again_changes_nothing(new_lab: NewLab, start: Up) -> None:
    lab = new_lab("again")
    first = start(lab, "objectstore")
    pid = status_of(lab, "objectstore").pid
    assert start(lab, "objectstore") == first
    assert status_of(lab, "objectstore").pid == pid


def test_the_cache_asks_for_its_password_and_starts_empty(new_lab: NewLab, start: Up) -> None:
    lab = new_lab("cached")
    start(lab, "cache")
    endpoint = lab.endpoints.others["cache"]
    assert isinstance(endpoint, Cache)
    assert ask(endpoint, "SET", "answer", "of today") == "+OK\r\n"
    assert "of today" in ask(endpoint, "GET", "answer")
    with pytest.raises(ConnectionError, match="WRONGPASS"):
        ask(endpoint.model_copy(update={"password": SecretStr("guessed")}), "GET", "answer")
    file = lab.state.conf("cache") / PASSWORD_FILE
    probe = ["bash", str(COMPOSE_FOLDER / "probes" / "cache.sh"), str(endpoint.port)]
    assert subprocess.run([*probe, str(file)], check=False).returncode == 0
    other = lab.state.folder / PASSWORD_FILE
    other.write_text("requirepass guessed\n")
    assert subprocess.run([*probe, str(other)], check=False).returncode != 0
    with pytest.raises(ConnectionError):  # not even by hand is anything kept
        ask(endpoint, "SAVE")
    down(lab)

    start(lab, "cache")
    assert ask(endpoint, "GET", "answer") == "$-1\r\n"


@pytest.mark.long
def test_two_labs_run_side_by_side(new_lab: NewLab, start: Up) -> None:
    one, two = new_lab("one"), new_lab("two")
    start(one, "objectstore")
    start(two, "objectstore")
    assert set(one.ports["objectstore"].values()).isdisjoint(two.ports["objectstore"].values())
    assert one.passwords != two.passwords
    down(one)
    assert processes_of(one) == []
    assert status_of(two, "objectstore").state == "ready"


@pytest.mark.long
def test_a_lab_whose_supervisor_was_killed_is_recovered(new_lab: NewLab, start: Up) -> None:
    lab = new_lab("orphan")
    start(lab, "mysql", "objectstore")
    supervisor_of(lab).kill()
    wait_for(lambda: not lab.running)
    orphans = processes_of(lab)
    assert orphans

    start(lab, "mysql", "objectstore")
    assert still_there(orphans, seconds=0) == []
    assert status_of(lab, "mysql").state == status_of(lab, "objectstore").state == "ready"
    down(lab)
    assert processes_of(lab) == []


@pytest.fixture
def disk(state_home: Path) -> Iterator[LoopDisk | None]:
    """A disk of its own for the state of labs, to cut off; None where there can be none."""
    folder = labs_home()
    folder.mkdir()
    try:
        with loop_disk(state_home / "disk", folder, mebibytes=DISK_MEBIBYTES) as disk:
            yield disk
    except DiskUnavailableError:
        yield None


class Numbers:
    """Numbers put into each database, the broker and the object store, and those found there."""

    def __init__(self, lab: Lab) -> None:
        self.endpoints = lab.endpoints
        self.kafka = {**client_settings(self.endpoints.kafka), "log_level": 0}

    def put(self, numbers: range) -> None:
        """Returns when each has said that it has them all."""
        producer = Producer({**self.kafka, "acks": "all"})
        store = s3_client(self.endpoints.objectstore)
        with (
            connect(self.endpoints, "postgres") as postgres,
            connect(self.endpoints, "mysql") as mysql,
        ):
            for source in (postgres, mysql):
                source.execute("CREATE TABLE IF NOT EXISTS numbers (id integer PRIMARY KEY)")
            for number in numbers:
                for source in (postgres, mysql):
                    source.execute(f"INSERT INTO numbers VALUES ({number})")
                producer.produce(TOPIC, str(number))
                assert producer.flush(WAIT_SECONDS) == 0
                store.put_object(
                    Bucket=self.endpoints.objectstore.bucket,
                    Key=f"numbers/{number}",
                    Body=b"x" * OBJECT_BYTES,
                )

    def found(self) -> dict[str, list[int]]:
        result = {}
        for engine in ("postgres", "mysql"):
            with connect(self.endpoints, engine) as source:
                rows = source.execute("SELECT id FROM numbers ORDER BY id")
                result[engine] = [int(id_) for (id_,) in rows]
        consumer = Consumer({**self.kafka, "group.id": "numbers"})
        first = TopicPartition(TOPIC, 0, 0)
        low, end = consumer.get_watermark_offsets(first, timeout=WAIT_SECONDS)
        consumer.assign([first])
        records = consumer.consume(end - low, timeout=WAIT_SECONDS)
        consumer.close()
        result["kafka"] = [int(record.value() or b"-1") for record in records]
        store = s3_client(self.endpoints.objectstore)
        listed = store.list_objects_v2(Bucket=self.endpoints.objectstore.bucket, Prefix="numbers/")
        keys = [item["Key"] for item in listed.get("Contents", [])]
        for key in keys:
            body = store.get_object(Bucket=self.endpoints.objectstore.bucket, Key=key)["Body"]
            assert body.read() == b"x" * OBJECT_BYTES
        result["objectstore"] = sorted(int(key.partition("/")[2]) for key in keys)
        return result


@pytest.mark.long
def test_what_was_acknowledged_survives_a_power_cut(
    disk: LoopDisk | None, new_lab: NewLab, start: Up
) -> None:
    """Where no disk can be cut off, all processes are killed at once, which proves less.

    The output says which it was: `pytest -rP` shows it.
    """
    print("the disk is cut off below the services" if disk else "without a disk: kills alone")
    names = ("postgres", "mysql", "kafka", "objectstore")
    lab = new_lab("off")
    start(lab, *names)
    admin = AdminClient(Numbers(lab).kafka)
    admin.create_topics([NewTopic(TOPIC, 1, 1)])[TOPIC].result()
    Numbers(lab).put(range(ACKNOWLEDGED))

    unsynced = lab.state.folder / "unsynced"
    unsynced.write_text("gone with the power")
    if disk:
        disk.cut()
    for process in processes_of(lab):  # the supervisor first: it would start the others again
        process.kill()
    wait_for(lambda: not processes_of(lab))
    if disk:
        disk.switch_on()
        assert not unsynced.exists() or not unsynced.read_text()

    again = new_lab("off")
    assert set(start(again, *names)) == set(names)
    missing = {
        name: sorted(set(range(ACKNOWLEDGED)) - set(found))
        for name, found in Numbers(again).found().items()
    }
    assert missing == {name: [] for name in names}


def test_down_ends_what_a_killed_supervisor_left(new_lab: NewLab, start: Up) -> None:
    lab = new_lab("left")
    start(lab, "objectstore")
    supervisor_of(lab).kill()
    wait_for(lambda: not lab.running)
    down(lab)
    assert processes_of(lab) == []


def test_destroy_removes_everything(new_lab: NewLab, start: Up) -> None:
    lab = new_lab("gone")
    start(lab, "postgres")
    destroy(lab)
    assert processes_of(lab) == []
    assert not lab.state.folder.exists()


def ordinary_user() -> list[str]:
    """The command prefix that makes an ordinary user of root.

    The one capability kept is for reading: root's interpreter and cache may be in its home.
    """
    user = pwd.getpwnam(ORDINARY_USER)
    kept = "-all,+dac_read_search"
    return [
        *("setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"),
        # access(2), which supervisord asks, ignores capabilities without this bit.
        "--securebits=+no_setuid_fixup",
        *(f"--inh-caps={kept}", f"--ambient-caps={kept}", f"--bounding-set={kept}", "--"),
    ]


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="all other tests here ran as an ordinary user")
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv is not installed")
def test_an_ordinary_user_can_run_it() -> None:
    with TemporaryDirectory(prefix="labctl-") as folder:
        shutil.chown(folder, ORDINARY_USER)
        environment = {
            **os.environ,
            "HOME": folder,
            "XDG_STATE_HOME": folder,
            "XDG_CACHE_HOME": str(default_cache().parent),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

        def labctl(*arguments: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [*ordinary_user(), sys.executable, "-m", "labctl", *arguments, "--lab", "plain"],
                cwd=find_project(Path(__file__)),
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        done = labctl("up", "postgres", "mysql", "objectstore", "--output", "json")
        try:
            assert done.returncode == 0, done.stderr
            services = json.loads(done.stdout)["services"]
            assert set(services) == {"postgres", "mysql", "objectstore"}
            state = Path(folder, "labctl", "plain")
            assert pwd.getpwuid(state.stat().st_uid).pw_name == ORDINARY_USER
        finally:
            done = labctl("destroy", "--yes")
        assert done.returncode == 0, done.stderr
