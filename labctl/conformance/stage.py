"""The running lab with the suite's own sources, and nothing else changed.

The user's project stays as it is. The lab runs for a copy of it in a temporary folder, with one
more source per engine. At the end, the databases, topics and lake folders of these sources are
removed, and the lab runs for the user's project again.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from labctl.config.kafka_clients import client_settings
from labctl.config.lab_config import Source as SourceSettings
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.keys import SIGNALS
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.connectors.connector_states import apply_and_wait, delete_connector, snapshot_again
from labctl.lab.connectors.source_files import source_file
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.busy import when_busy
from labctl.lab.lifecycle.starting import SilentReporter
from labctl.lab.lifecycle.up import up
from labctl.lab.observe.service_status import read_status
from labctl.lake.objectstore import s3_client
from labctl.scaffolding.new_connectors import connector_name, sink_text, source_text
from labctl.scaffolding.new_tables import new_files
from labctl.scaffolding.properties import BASE, base_text, table_text
from labctl.sources import ENGINES, connect, ensure_database
from labctl.sources.base import TableRef
from labctl.sources.signal_table import own_signals
from labctl.state.file_changes import change_files
from labctl.tables import CONNECTORS, LabTable

__all__ = ["SILVER", "Stage", "copied", "staged"]

SILVER = "conformance"
"""Name of the database of the suite's silver tables, and of its source databases."""
_PROPERTIES = "conformance-tables/properties"
"""Folder of the suite's properties files. The file that they include is in its parent folder,
because in this folder it would count as a table's file."""
_WAITING = "waiting"
"""Name of a table that is never created. Its file is needed because a folder without properties
files is refused."""
_SINK = "sink_connector_conformance"
_READY_SECONDS = 120.0
"""Seconds that services may take to return after faults, on a machine that is not busy."""
_POLL_SECONDS = 0.5


@dataclass
class Stage:
    """The lab during a run."""

    user_lab: Lab
    lab: Lab
    """Lab for the copy of the project."""
    engines: tuple[EngineName, ...]
    topics: set[str] = field(default_factory=set)
    """Topics of the run's tables."""

    @staticmethod
    def source(engine: EngineName) -> str:
        """Return the name of the suite's source with this engine."""
        return f"conformance-{engine}"

    @staticmethod
    def ref(engine: EngineName, name: str) -> TableRef:
        """Return the reference of a table in the suite's schema."""
        return TableRef(_schema(engine), name)

    def fresh(self) -> Lab:
        """Return the lab, which reads its files again."""
        self.lab = replace(self.lab)
        return self.lab

    @property
    def folder(self) -> Path:
        """Folder of the suite's properties files."""
        return self.lab.project / _PROPERTIES

    def own_tables(self) -> list[LabTable]:
        """Return the suite's tables, from the current files."""
        names = {self.source(engine) for engine in self.engines}
        tables = [table for table in self.fresh().tables if table.source in names]
        return [table for table in tables if table.source_name != _WAITING]

    def capture(self, engines: Iterable[EngineName]) -> dict[EngineName, LabError]:
        """Start the Spark application, and start connectors with a new load of the current tables.

        Return the errors of connectors by engine.
        """
        lab = self.fresh()
        self.topics |= {table.topic for table in self.own_tables()}
        files = {engine: source_file(lab, self.source(engine)) for engine in engines}
        with ThreadPoolExecutor(1) as pool:
            # The connectors load while the application starts.
            failed = pool.submit(self._apply, files)
            up(replace(lab), SilentReporter())
            return failed.result()

    def _apply(self, files: Mapping[EngineName, ConnectorFile]) -> dict[EngineName, LabError]:
        """Apply connectors, all at once; if that fails, one by one, and return their errors."""
        lab = replace(self.lab)
        there = connect_client(lab.endpoints.connect).names()
        try:
            apply_and_wait(lab, [*files.values()])
            for file in files.values():
                if file.name in there:
                    snapshot_again(lab, file.name)
        except LabError as error:
            if len(files) == 1:
                return dict.fromkeys(files, error)
            parts = [self._apply({engine: file}) for engine, file in files.items()]
            return {engine: error for part in parts for engine, error in part.items()}
        return {}

    def apply(self, engine: EngineName) -> None:
        """Apply an engine's connector again, as docs/schema-changes.md requires after a swap."""
        self.wait_ready()  # A fault of the same batch may have killed Kafka Connect.
        self._leave_out(engine)
        lab = replace(self.fresh())
        apply_and_wait(lab, [source_file(lab, self.source(engine))])

    def _leave_out(self, engine: EngineName) -> None:
        """Leave out columns that tables got since and that no change has: else none is applied."""
        source = self.source(engine)
        with connect(self.lab.endpoints, source) as database:
            for table in [one for one in self.own_tables() if one.engine == engine]:
                ref = TableRef(table.db_schema, table.source_name)
                change_files(self.lab.project, new_files(self.fresh(), source, database, ref))

    def kill(self, part: str) -> None:
        """Kill a service of the lab, unless it is still down after an earlier kill."""
        state = self.lab.runtime.states().get(part)
        if state is not None and state.running:
            self.lab.runtime.faults.kill(part)

    def wait_ready(self) -> None:
        """Wait until all services are usable after faults. Raises LabError (NOT_READY)."""
        deadline = time.monotonic() + when_busy(_READY_SECONDS)
        while not (status := read_status(self.lab)).ready:
            if time.monotonic() > deadline:
                raise LabError(
                    f"The lab does not come back: {'; '.join(status.problems())}",
                    hint="labctl logs SERVICE",
                    exit_code=ExitCode.NOT_READY,
                )
            time.sleep(_POLL_SECONDS)

    def clear(self) -> None:
        """Remove a batch's properties files from the project. The tables in databases stay."""
        for path in self.folder.glob("*.properties"):
            if not path.stem.endswith(f".{_WAITING}"):
                path.unlink()

    def drop_connector(self, engine: EngineName) -> None:
        """Remove a connector and its offsets."""
        name = connector_name(self.source(engine))
        with suppress(LabError):
            # A later connector of the same name would otherwise continue from its offsets.
            connect_client(self.lab.endpoints.connect).forget_offsets(name)
        with suppress(LabError):
            delete_connector(self.fresh(), name)


@contextmanager
def staged(user_lab: Lab, engines: Sequence[EngineName]) -> Iterator[Stage]:
    """Run the lab with the suite's sources until the block ends, and then restore the lab."""
    user_lab.require_here().require_running()
    _require_free(user_lab)
    with TemporaryDirectory(prefix="labctl-conformance-") as folder:
        stage = Stage(user_lab, copied(user_lab, Path(folder), engines), tuple(engines))
        try:
            _move(user_lab, Path(folder))
            stage.lab.runtime.write_secrets()
            for engine in engines:
                ensure_database(stage.lab.endpoints, stage.source(engine))
            # Connectors start together with the application, so first grant them access here.
            up(stage.lab, SilentReporter(), engines)
            yield stage
        finally:
            _end(stage)


def _require_free(lab: Lab) -> None:
    if taken := [name for name in lab.config.sources if name.startswith("conformance-")]:
        raise LabError(
            f"sources.{taken[0]} has a name that this command needs for its own sources",
            hint="rename that source in lab.toml, and run `labctl up`",
            exit_code=ExitCode.USAGE,
        )


def copied(lab: Lab, folder: Path, engines: Sequence[EngineName]) -> Lab:
    """Copy a lab's project into a folder, add the suite's sources, and return the lab for it."""
    _copy(lab, folder)
    return _with_sources(lab, folder, engines)


def _copy(lab: Lab, folder: Path) -> None:
    """Make the copy: links to everything that is only read, and a real copy of the connectors."""
    folder.mkdir(parents=True, exist_ok=True)
    for entry in lab.project.iterdir():
        if entry.name != str(CONNECTORS):
            (folder / entry.name).symlink_to(entry)
    shutil.copytree(lab.project / CONNECTORS, folder / CONNECTORS)
    properties = folder / _PROPERTIES
    properties.mkdir(parents=True)
    # A record that cannot be written is put aside by name, and does not stop its table.
    base = base_text(SILVER).replace("lab.on.bad.record=stop", "lab.on.bad.record=deadletter")
    (properties.parent / BASE).write_text(base, encoding="utf-8")


def _with_sources(lab: Lab, folder: Path, engines: Sequence[EngineName]) -> Lab:
    sources = dict(lab.config.sources)
    names = []
    for engine in engines:
        name = Stage.source(engine)
        names.append(name)
        connector = connector_name(name)
        sources[name] = SourceSettings(
            engine=engine,
            database=None if ENGINES[engine].schemas_are_databases else SILVER,
            schemas=(_schema(engine),),
            connector=connector,
        )
        text = source_text(name, engine, [_schema(engine)])
        (folder / CONNECTORS / f"{connector}.json").write_text(text, encoding="utf-8")
    (folder / CONNECTORS / f"{_SINK}.json").write_text(sink_text(names), encoding="utf-8")
    topic = f"{names[0]}.{_schema(engines[0])}.{_WAITING}"
    text = table_text(
        topic=topic, table=_WAITING, keys=["id"], topics_dir="topics", base=f"../{BASE}"
    )
    (folder / _PROPERTIES / f"{topic}.properties").write_text(text, encoding="utf-8")
    silver = lab.config.silver.model_copy(
        update={"properties": (_PROPERTIES, *lab.config.silver.properties)}
    )
    # The application starts for each batch, and ends before C2's compiled code would pay off.
    quick = lab.config.settings("silver").model_copy(update={"quick_start": True})
    # The user's own services run in the project's folder, so they stop meanwhile.
    services = {**lab.config.without_own_services().services, "silver": quick}
    config = lab.config.model_copy(
        update={"sources": sources, "silver": silver, "services": services}
    )
    return replace(lab, project=folder, config=config)


def _move(lab: Lab, project: Path) -> None:
    """Change the running lab's project to another folder."""
    lab.state.save(project=str(project))


def _end(stage: Stage) -> None:
    """Remove what the run made, and have the lab run for the user's project again."""
    lab = stage.lab
    stage.clear()
    _move(lab, stage.user_lab.project)
    try:
        # This restarts services that a fault killed; connectors could not be removed without them.
        up(replace(stage.user_lab), SilentReporter())
    finally:
        for engine in stage.engines:
            stage.drop_connector(engine)
        _delete_topics(stage)
        _delete_files(stage)
        for engine in stage.engines:
            with suppress(LabError):
                _drop_database(lab, engine)
        _delete_state(stage)


def _delete_topics(stage: Stage) -> None:
    admin = AdminClient(client_settings(stage.lab.endpoints.kafka))
    with suppress(KafkaException):
        known = admin.list_topics(timeout=10).topics
        own = [topic for topic in known if topic.startswith(_PREFIXES)]
        for done in (admin.delete_topics(own) if own else {}).values():
            with suppress(KafkaException):
                done.result()


_PREFIXES = tuple(
    f"{before}conformance-"
    for before in ("", "schema-history.", "__debezium-heartbeat.", "notifications.")
)


_FOLDERS = ("topics/conformance-", "bronze-topics/conformance-", "deadletter/conformance-")


def _delete_files(stage: Stage) -> None:
    """Remove silver tables, bronze files and dead letters."""
    store = stage.lab.endpoints.objectstore
    client = s3_client(store)
    pages = client.get_paginator("list_objects_v2")
    for prefix in (f"silver/{SILVER}/", *_FOLDERS):
        for page in pages.paginate(Bucket=store.bucket, Prefix=prefix):
            # A page holds as many objects as one request can delete.
            found: list[Any] = [{"Key": entry["Key"]} for entry in page.get("Contents", [])]
            if found:
                client.delete_objects(Bucket=store.bucket, Delete={"Objects": found, "Quiet": True})


def _delete_state(stage: Stage) -> None:
    """Remove the Spark application's native checkpoints, and the connectors' logins."""
    lab = stage.lab
    folder = lab.state.data("silver") / "checkpoints"
    for path in (*folder.glob(f"{SILVER}.*"), folder / f"_bronze-{_SINK}"):
        shutil.rmtree(path, ignore_errors=True)
    for engine in stage.engines:
        (lab.state.secrets / "demo" / Stage.source(engine)).unlink(missing_ok=True)


def _drop_database(lab: Lab, engine: EngineName) -> None:
    name = Stage.source(engine)
    traits = ENGINES[engine].conformance()
    if traits.drop_database is None:
        signals = own_signals(source_file(lab, name).config.get(SIGNALS, ""))
        with connect(lab.endpoints, name) as source:
            if signals is not None:
                # Other engines have the signal table in the source's own database.
                source.execute(f"DROP TABLE IF EXISTS {source.qualified(signals)}")
            source.execute(f"DROP DATABASE {source.quote(_schema(engine))}")
        return
    server = lab.endpoints.servers[engine].model_copy(update={"database": traits.other_database})
    with ENGINES[engine].client(server) as administrator:
        administrator.execute(traits.drop_database.format(name=administrator.quote(SILVER)))


def _schema(engine: EngineName) -> str:
    return ENGINES[engine].default_schema or SILVER
