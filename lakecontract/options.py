"""The application's command line: parsed here, and built here for its launcher.

Nothing in this module needs Spark, so a launcher can import it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lakecontract.errors import ConfigurationError

__all__ = [
    "GLUE",
    "GLUE_SYNC_TOOL",
    "HIVE",
    "JAR",
    "JVM_PROPERTIES",
    "KAFKA_CONF_PREFIX",
    "REPLAYED",
    "THRIFT",
    "Options",
    "SourceName",
    "submit_argv",
]

SourceName = Literal["kafka", "bronze"]

KAFKA_CONF_PREFIX = "spark.lakehouse.kafka."
"""Spark properties with this prefix go to every Kafka client (`security.protocol`, …). The login is
passed this way: only its owner can read the file of Spark's properties, or it has no secret."""

GLUE = "glue"
"""Catalog AWS Glue, used through the class in Hudi's bundle for AWS."""
GLUE_SYNC_TOOL = "org.apache.hudi.aws.sync.AwsGlueCatalogSyncTool"
HIVE = "hive"
"""Catalog that Spark's own configuration names as its metastore. On EMR it may be Glue, too."""
THRIFT = "thrift://"
"""Prefix of a catalog that is the address of a Hive metastore."""

JVM_PROPERTIES = {
    "jol.skipInstallAttach": "true",
    "jol.skipDynamicAttach": "true",
    "jol.skipHotspotSAAttach": "true",
}
"""Properties of every JVM that writes tables: it starts no other that looks at its objects."""
JAR = "java/lakehouse.jar"
"""Jar of the package's own Java classes, for Spark's class path (lakehouse/key_generator.py)."""

REPLAYED = "replayed"
"""Folder, below a topic's dead letters, for those that were put into their table after all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Everything that differs between two runs of the application. No secret is among it."""

    properties: tuple[str, ...]
    """Files of table properties, or folders of such files."""
    bootstrap_servers: str
    registry_url: str
    """Address of the schema registry, without `/apis/…`."""
    target_base_path: str
    """Folder of the silver tables: `s3a://bucket/silver`."""
    bronze_base_path: str
    """Folder that bronze paths start from: `s3a://bucket`."""
    checkpoint_base_path: str
    """Working space of the streaming queries; nothing is lost with it."""
    tables: tuple[str, ...] = ()
    """Tables to run; empty: all that have a properties file."""
    source: SourceName = "kafka"
    sink_configs: tuple[str, ...] = ()
    """Sink connectors' JSON files; with any, this application writes bronze by their rules."""
    secrets_dir: str | None = None
    """Folder for the values of `${secretManager:<path>:<key>}` in a sink connector's JSON."""
    status_host: str = "127.0.0.1"
    """The address that `status_port` is opened on."""
    status_port: int | None = None
    status_token_file: str | None = None
    """File with the token that a POST to that port must bring."""
    catalog: str | None = None
    """Catalog in which tables are registered: GLUE, HIVE or `thrift://host:port`; None: none."""
    gold: str | None = None
    """File with the views to keep as tables (see `gold_definition`); None: there are none."""
    retention_seconds: int | None = None
    """Age at which bronze files, and those put aside in `retired`, are removed; None: never."""
    once: bool = False
    """True if to take in what there is, then end."""
    rebuild: tuple[str, ...] = ()
    """Tables to write again from bronze before going on."""
    hoodie_conf: Mapping[str, str]
    """`hoodie.*` and `lab.*` values that have precedence over the properties files."""

    @property
    def dead_letter_base_path(self) -> str:
        """Folder in which undecodable records are put aside, next to the silver tables."""
        return f"{self.lake}/deadletter"

    def rebuild_request_path(self, table: str) -> str:
        """Return the path that exists while a table is to be rebuilt (see `rebuild_request`)."""
        return f"{self.lake}/rebuild/{table}"

    def refill_request_path(self, table: str) -> str:
        """Return the path that exists while a table is to be written again from its source."""
        return f"{self.lake}/refill/{table}"

    def replay_request_path(self, table: str) -> str:
        """Return the path that exists while a table's dead letters are to be put into it."""
        return f"{self.lake}/replay/{table}"

    def status_token(self) -> str | None:
        """Return the token in `status_token_file`, if any. Raises ConfigurationError if empty."""
        if self.status_token_file is None:
            return None
        try:
            token = Path(self.status_token_file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ConfigurationError(
                f"--status-token-file {self.status_token_file}: {error.strerror}",
                hint="Name a file that this user can read",
            ) from None
        if not token:
            raise ConfigurationError(
                f"--status-token-file {self.status_token_file} is empty",
                hint="Write the token into it",
            )
        return token

    @property
    def lake(self) -> str:
        """The folder with the application's own folders, besides bronze and silver."""
        return self.target_base_path.rstrip("/").rpartition("/")[0]

    def argv(self) -> list[str]:
        """Return the command line that `parse` turns into the same options."""
        argv = [f"--properties={path}" for path in self.properties]
        argv += [
            f"--bootstrap-servers={self.bootstrap_servers}",
            f"--registry-url={self.registry_url}",
            f"--target-base-path={self.target_base_path}",
            f"--bronze-base-path={self.bronze_base_path}",
            f"--checkpoint-base-path={self.checkpoint_base_path}",
            f"--source={self.source}",
        ]
        if self.tables:
            argv.append(f"--tables={','.join(self.tables)}")
        for name, value in (
            ("secrets-dir", self.secrets_dir),
            ("status-host", self.status_host),
            ("status-port", self.status_port),
            ("status-token-file", self.status_token_file),
            ("catalog", self.catalog),
            ("gold", self.gold),
            ("retention-seconds", self.retention_seconds),
        ):
            if value is not None:
                argv.append(f"--{name}={value}")
        argv += [f"--sink-config={path}" for path in self.sink_configs]
        if self.once:
            argv.append("--once")
        argv += [f"--rebuild={table}" for table in self.rebuild]
        argv += [f"--hoodie-conf={key}={value}" for key, value in self.hoodie_conf.items()]
        return argv

    @classmethod
    def parse(cls, argv: Sequence[str] | None = None) -> Options:
        """Read `argv`, the process's own by default. Raises ConfigurationError."""
        given: dict[str, Any] = vars(_parser().parse_args(argv))
        conf: dict[str, str] = {}
        for pair in given.pop("hoodie_conf"):
            key, separator, value = pair.partition("=")
            if not separator:
                raise ConfigurationError(
                    f"--hoodie-conf {pair} is not key=value", hint="Write --hoodie-conf key=value"
                )
            conf[key.strip()] = value.strip()
        for name in ("properties", "rebuild", "sink_configs"):
            given[name] = tuple(given[name])
        options = cls(**given, hoodie_conf=conf)
        catalog = options.catalog
        if catalog is not None and catalog not in (GLUE, HIVE) and not catalog.startswith(THRIFT):
            raise ConfigurationError(
                f"--catalog {catalog}: there is no such catalog",
                hint=f"Give {GLUE}, {HIVE} or {THRIFT}HOST:PORT",
            )
        if options.retention_seconds is not None and options.retention_seconds < 1:
            raise ConfigurationError(
                f"--retention-seconds {options.retention_seconds} would keep no bronze file",
                hint="Give 1 or more, or leave it out to keep all of them",
            )
        if options.sink_configs and not options.secrets_dir:
            raise ConfigurationError(
                "--sink-config refers to values by name, and --secrets-dir is missing",
                hint="Give the folder where they are kept",
            )
        return options


def submit_argv(
    options: Options,
    *,
    spark_submit: Sequence[str],
    properties_file: str,
    application: str,
    submit_options: Sequence[str] = (),
) -> list[str]:
    """Return the whole `spark-submit` command line.

    `spark_submit` is the program. `properties_file` has Spark's own properties with the profile's
    values and credentials (readable by its owner alone). `submit_options` are what a cluster needs
    besides (`--deploy-mode cluster`, `--py-files …`).
    """
    return [
        *spark_submit,
        f"--properties-file={properties_file}",
        *submit_options,
        application,
        *options.argv(),
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="silver.py",
        description="Brings change records into Hudi tables, each table on its own.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--properties", action="append", required=True, metavar="PATH", help="file or folder")
    add("--tables", type=_names, default=(), metavar="A,B", help="only these tables")
    add("--source", choices=("kafka", "bronze"), default="kafka")
    add("--bootstrap-servers", required=True, metavar="HOST:PORT")
    add("--registry-url", required=True, metavar="URL")
    add("--target-base-path", required=True, metavar="URI")
    add("--bronze-base-path", required=True, metavar="URI")
    add("--checkpoint-base-path", required=True, metavar="URI")
    add(
        "--sink-config",
        dest="sink_configs",
        action="append",
        default=[],
        metavar="FILE",
        help="a sink connector's JSON: write bronze as it says; repeatable",
    )
    add("--secrets-dir", metavar="FOLDER", help="values for ${secretManager:path:key}")
    add("--status-port", type=int, metavar="PORT", help="answer GET /status there")
    add("--status-token-file", metavar="FILE", help="what a POST there must bring; without: none")
    add("--status-host", default="127.0.0.1", metavar="ADDRESS", help="where that port is opened")
    add("--catalog", metavar="NAME", help="register tables there: glue, hive, thrift://HOST:PORT")
    add("--gold", metavar="FILE", help="views to keep as tables; not with --once")
    add("--retention-seconds", type=int, metavar="N", help="remove bronze files of this age")
    add("--once", action="store_true", help="take in what there is, then end")
    add("--rebuild", action="append", default=[], metavar="TABLE", help="from bronze; repeatable")
    add("--hoodie-conf", action="append", default=[], metavar="KEY=VALUE", help="repeatable")
    return parser


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())
