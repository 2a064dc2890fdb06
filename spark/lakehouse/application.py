"""The silver application: one worker per table, and one for bronze, in one Spark session."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql import SparkSession

from lakecontract.errors import ConfigurationError
from lakecontract.gold_definition import GoldDefinition, read_definitions
from lakecontract.options import Options
from lakecontract.properties import TOPIC_KEY, TableConfig, load_tables, named_tables
from lakecontract.sink_config import load_sink_config
from lakehouse.bronze.bronze_status import bronze_status
from lakehouse.bronze.feed import BronzeFeed
from lakehouse.bronze.folders import bronze_folders
from lakehouse.bronze.retention import Retention
from lakehouse.bronze.topics import BronzeTopics
from lakehouse.bronze.writer import BronzeWriter
from lakehouse.catalog_sync import CatalogSync
from lakehouse.deadletter import DeadLetters
from lakehouse.first_load import SilverFirst
from lakehouse.gold import GoldWorker
from lakehouse.gold_table import GoldTable
from lakehouse.hudi import HudiTable
from lakehouse.kafka import Kafka
from lakehouse.kafka_feed import KafkaFeed
from lakehouse.maintenance import Maintenance
from lakehouse.progress import WorkerProgress
from lakehouse.rebuild import Rebuilder
from lakehouse.registry import SchemaRegistry
from lakehouse.schema_memory import LakeSchemas
from lakehouse.storage import LakeFiles
from lakehouse.supervisor import Feed, Supervisor, Worker
from lakehouse.table_ingestion import TableWriter
from lakehouse.warmup import WarmUp

__all__ = ["Application"]


class Application:
    """The workers on the lab's data. They start from the current data and run until stopped."""

    def __init__(
        self, spark: SparkSession, options: Options, tables: Sequence[TableConfig]
    ) -> None:
        """Raise ConfigurationError for a configuration that cannot be run."""
        self._spark = spark
        self._options = options
        self._tables = {
            table.name: WorkerProgress(
                source=options.source,
                table_type=table.table_type,
                last_commit_at=None,
                offsets={},
                begins={},
                rebuild_refused=None,
                last_replay=None,
                configuration=table.digest,
            )
            for table in tables
        }
        self._topics = {table.name: table.topic for table in tables}
        self._kafka = Kafka(self._spark, options.bootstrap_servers)
        self._storage = LakeFiles(self._spark)
        self._registry = SchemaRegistry(
            options.registry_url, LakeSchemas(self._storage, f"{options.lake}/schemas")
        )
        self._dead_letters = DeadLetters(self._storage, options.dead_letter_base_path)
        self._bronze_topics = BronzeTopics(
            self._storage, lake=options.lake, bronze_base_path=options.bronze_base_path
        )
        self._maintenance = Maintenance(self._spark)
        catalog = options.catalog
        self._catalog = CatalogSync(self._spark, catalog) if catalog else None
        # Set when this application has written files, so that it reads them without polling.
        self._arrived = {table.topic: threading.Event() for table in tables}
        self._hudi = {
            table.name: HudiTable(self._spark, table, options.target_base_path) for table in tables
        }
        for name in named_tables(options.rebuild, self._topics):
            self._rebuilder(self._hudi[name]).request()
        self._feeds = {name: self._feed(table) for name, table in self._hudi.items()}
        self._replacing = threading.Lock()
        self._bronze = self._bronze_writers()
        self._retention = self._retention_of_bronze()
        self._warm_up = WarmUp(self._spark, tables, self._checkpoint("_warm_up"))
        self._gold = self._gold_workers()
        workers: list[Worker] = [*self._feeds.values(), *self._bronze, *self._gold]
        self._supervisor = Supervisor(workers, once=options.once)

    def run(self) -> bool:
        """Work until stopped, or with `--once` until done; return whether no table has failed."""
        self._maintenance.start()
        if self._catalog:
            self._catalog.start()
        if not self._options.once:
            self._warm_up.start(self._is_idle)
            if self._retention:
                self._retention.start()
        try:
            sound = self._supervisor.run()
            if sound and self._options.once and self._retention:
                self._retention.remove_due()
            return sound
        finally:
            if self._retention:
                self._retention.stop()
            self._warm_up.stop()
            self._maintenance.stop()
            if self._catalog:
                self._catalog.stop()
            self._kafka.close()

    def stop(self) -> None:
        """Ask `run` to end; each worker ends after its current work."""
        self._supervisor.stop()

    def let_go(self) -> None:
        """Cancel the background work after `run` has ended, and wait for its end."""
        self._spark.sparkContext.cancelAllJobs()
        self._warm_up.wait()
        self._maintenance.stop()

    def status(self) -> Mapping[str, Any]:
        """Return the part of `GET /status` about tables, bronze, gold and bronze's retention."""
        return {
            "tables": {name: self._table_status(name) for name in self._tables},
            "bronze": bronze_status(
                {writer.name: writer.progress.snapshot() for writer in self._bronze}
            ),
            "gold": {
                worker.name: {
                    **worker.progress.snapshot(),
                    "maintenance_error": self._maintenance.error(worker.name),
                    "catalog": self._catalog.status(worker.name) if self._catalog else None,
                }
                for worker in self._gold
            },
            "retention": self._retention.status() if self._retention else None,
        }

    def _table_status(self, name: str) -> Mapping[str, Any]:
        topic = self._topics[name]
        return {
            **self._tables[name].snapshot(),
            "maintenance_error": self._maintenance.error(name),
            "catalog": self._catalog.status(name) if self._catalog else None,
            "dead_letters": self._dead_letters.count(topic),
            "newest_dead_letter": self._dead_letters.newest(topic),
        }

    def _rebuilder(self, table: HudiTable) -> Rebuilder:
        return Rebuilder(
            self._spark,
            self._storage,
            table,
            bronze_base_path=self._options.bronze_base_path,
            request_path=self._options.rebuild_request_path(table.config.name),
            bronze_topics=self._bronze_topics,
        )

    def _feed(self, table: HudiTable) -> Feed:
        config = table.config
        writer = TableWriter(
            self._spark,
            table,
            self._tables[config.name],
            self._maintenance,
            self._dead_letters,
            self._rebuilder(table),
            self._catalog,
            storage=self._storage,
            refill_request_path=self._options.refill_request_path(config.name),
        )
        if self._options.source == "bronze":
            return BronzeFeed(
                self._spark,
                self._storage,
                writer,
                base_path=self._options.bronze_base_path,
                arrived=self._arrived[config.topic],
                bronze_topics=self._bronze_topics,
                written=lambda: self._written_to_bronze(config.topic),
                once=self._options.once,
            )
        return KafkaFeed(
            self._spark,
            self._kafka,
            self._registry,
            writer,
            self._dead_letters,
            replay_request_path=self._options.replay_request_path(config.name),
            other_replay_requests=[
                self._options.replay_request_path(name) for name in self._siblings(config.name)
            ],
            checkpoint=self._checkpoint(config.name),
            tables=len(self._tables),
            once=self._options.once,
        )

    def _written_to_bronze(self, topic: str) -> Mapping[str, int]:
        """Return the offset before which bronze has what a topic had, by partition."""
        written: dict[str, int] = {}
        for writer in self._bronze:
            shown = writer.progress.snapshot()
            written |= {**shown["begins"].get(topic, {}), **shown["offsets"].get(topic, {})}
        return written

    def _bronze_writers(self) -> list[BronzeWriter]:
        """Return one writer per sink connector file."""
        options = self._options
        if options.secrets_dir is None:
            return []
        secrets = Path(options.secrets_dir)
        sinks = [load_sink_config(Path(file), secrets) for file in options.sink_configs]
        for file, sink in zip(options.sink_configs, sinks, strict=True):
            if urlsplit(options.bronze_base_path).netloc != sink.bucket:
                raise ConfigurationError(
                    f"{file} writes to the bucket {sink.bucket}, but bronze is "
                    f"expected in {options.bronze_base_path}",
                    hint="Make --bronze-base-path and s3.bucket.name agree",
                )
        return [
            BronzeWriter(
                self._spark,
                self._kafka,
                self._registry,
                sink,
                self._dead_letters,
                base_path=options.bronze_base_path,
                checkpoint=self._checkpoint(f"_bronze-{sink.name}"),
                topics=self._bronze_topics,
                arrived=self._arrived,
                silver_first=None if options.once else SilverFirst(self._loading),
                once=options.once,
            )
            for sink in sinks
        ]

    def _retention_of_bronze(self) -> Retention | None:
        options = self._options
        if options.retention_seconds is None:
            return None
        return Retention(
            self._storage,
            self._bronze_topics,
            options.retention_seconds,
            lambda: bronze_folders(
                self._storage,
                options.bronze_base_path,
                [
                    (t.config, self._tables[name].snapshot()["offsets"])
                    for name, t in self._hudi.items()
                ],
                self._bronze,
                options.source,
            ),
        )

    def _gold_workers(self) -> list[GoldWorker]:
        """Return a worker for each view kept as a table; none with `--once`, which ends earlier."""
        if self._options.gold is None or self._options.once:
            return []
        return [self._gold_worker(one) for one in read_definitions(Path(self._options.gold))]

    def _gold_worker(self, definition: GoldDefinition) -> GoldWorker:
        inputs = sorted(set(definition.inputs))
        if lacking := [name for name in inputs if name not in self._hudi]:
            raise ConfigurationError(
                f"{definition.name} reads {lacking[0]}, which this application does not write",
                hint="Have it write the table, or take the view out of gold.materialised",
            )
        like = self._hudi[definition.inputs[0]].config
        config = definition.table_config(like, self._options.hoodie_conf)
        table = HudiTable(self._spark, config, self._options.target_base_path)
        return GoldWorker(
            self._spark,
            GoldTable(self._spark, definition, table, self._hudi),
            WorkerProgress(last_commit_at=None, read={}),
            self._maintenance,
            self._catalog,
            marks=lambda: tuple(self._tables[name].mark() for name in inputs),
            lacking=lambda: next((n for n in inputs if not self._hudi[n].exists()), None),
        )

    def _checkpoint(self, name: str) -> str:
        return f"{self._options.checkpoint_base_path.rstrip('/')}/{name}"

    def restart(self, table: str) -> bool:
        """Restart a table with its current properties. Return False when there is no such table.

        Raises ConfigurationError when they cannot be used; the table then runs on as before.
        """
        if table not in self._topics:
            return False
        options = self._options
        (config,) = load_tables(
            map(Path, options.properties), only=(table,), overrides=options.hoodie_conf
        )
        with self._replacing:
            before = self._hudi[table]
            if config == before.config:
                return self._supervisor.restart(table)
            now, old = before.described_by(config), self._feeds[table]
            self._check_replacement(now)
            feed = self._feed(now)
            if isinstance(feed, KafkaFeed) and isinstance(old, KafkaFeed):
                feed.go_on_from(old)
            self._hudi[table], self._feeds[table] = now, feed
            self._supervisor.replace(
                feed, table_type=config.table_type, configuration=config.digest
            )
        return True

    def _check_replacement(self, table: HudiTable) -> None:
        """Raise ConfigurationError if the table cannot continue with its new properties."""
        config = table.config
        if config.topic != self._topics[config.name]:
            raise ConfigurationError(
                f"{config.place_of(TOPIC_KEY)}: table {config.name} has another topic now, "
                f"{config.topic}",
                hint="Start the application again",
            )
        is_written_anew = self._storage.exists(self._options.refill_request_path(config.name))
        if not (is_written_anew or self._rebuilder(table).is_requested()):
            table.check_layout(table.state())

    def refill(self, table: str) -> bool:
        """Write a table again from its topic, and bronze too; put the old bronze files aside.

        Return False when there is no such table.
        """
        topic = self._topics.get(table)
        if topic is None:
            return False
        for writer in self._bronze:
            if writer.reads(topic):
                self._bronze_topics.ask_to_retire(topic)
                self._supervisor.restart(writer.name)
        self._storage.write(self._options.refill_request_path(table), b"")
        return self._supervisor.restart(table)

    def replay(self, table: str) -> bool:
        """Have a table's worker ingest its dead letters. Return False if there is no such table."""
        if table not in self._topics:
            return False
        # A letter is put away only once, so the other tables of its topic must ingest it too.
        tables = [table, *self._siblings(table)]
        for name in tables:
            self._storage.write(self._options.replay_request_path(name), b"")
        for name in tables:
            self._supervisor.restart(name)
        return True

    def register(self, table: str) -> bool:
        """Register a table in the catalog. Return False when there is no such table."""
        if table not in self._topics:
            return False
        if self._catalog is None:
            raise ConfigurationError(
                "The application knows no catalog", hint="Start it with --catalog"
            )
        hudi = self._hudi[table]
        if hudi.exists():  # Otherwise its first commit registers it.
            self._catalog.ask(hudi)
        return True

    def _siblings(self, table: str) -> list[str]:
        """Return the other tables fed from the same topic."""
        topic = self._topics[table]
        return [name for name, of in self._topics.items() if of == topic and name != table]

    def _loading(self, topics: Collection[str]) -> list[str]:
        """Return the tables fed from `topics` that are waiting for their first commit."""
        return [
            feed.name
            for feed in self._feeds.values()
            if isinstance(feed, KafkaFeed) and feed.topic in topics and feed.is_loading()
        ]

    def _is_idle(self) -> bool:
        """Return whether no table has anything to read yet."""
        return all(not feed.has_source() for feed in self._feeds.values())
