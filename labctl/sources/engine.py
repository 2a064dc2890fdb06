"""The declarative record that describes a database engine to the lab."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from labctl.config.endpoints import Database, SourceDatabase
from labctl.engine_names import EngineName
from labctl.sources.base import Source, TableRef
from labctl.sources.capture_limits import NO_LIMITS, Limits
from labctl.sources.change_log import ChangeLog
from labctl.sources.connector_traits import ConnectorTraits
from labctl.sources.log_slots import Slots
from labctl.sources.sql_files import SqlFiles

if TYPE_CHECKING:
    from labctl.conformance.traits import Traits
    from labctl.kafkaconnect.connector_files import ConnectorFile
    from labctl.promote.rules.rule import Rule
    from labctl.services.service import Service
    from labctl.sources.type_rules import TypeRule

__all__ = ["CDC_USER", "Arrival", "ArrivalVerdict", "Engine", "Instances", "Preparation", "Rds"]

CDC_USER = "debezium"
"""Login of connectors, unless their engine names another one."""


@dataclass(frozen=True)
class Preparation:
    """The facts from which an administrator prepares a source before its connector starts."""

    database: str
    schemas: tuple[str, ...]
    tables: tuple[TableRef, ...]
    user: str
    """Login of its connector."""
    publication: str
    """PostgreSQL's publication, as the connector's file names it."""
    published: tuple[TableRef, ...]
    """Tables of that publication, including those of other connectors that read from it."""
    multi_az: bool
    signals: TableRef | None = None
    """Its connector's signal table; None if labctl does not create it."""


@dataclass(frozen=True)
class Rds:
    """An engine on Amazon RDS."""

    majors: tuple[str, ...]
    """Major versions for which change data capture is documented."""
    major: Callable[[str], str]
    """The part of a version that names the parameter family: `17`, `8.4`, `15.0`."""
    parameters: Callable[[int], Mapping[str, str]] = lambda _: {}
    """Instance parameters that change data capture needs, given the number of connectors."""
    licensed: bool = False
    """True if it has licensed editions, as SQL Server does. A new instance then has no
    database."""


ArrivalVerdict = Literal["as text", "lossy", "not captured", "not compared"]
"""Verdict on a type without a rule."""
Arrival = tuple[str, ArrivalVerdict, str]
"""An expression for the catalogue's names of types, the verdict, and the form of the values."""
Unrecorded = Callable[[Source, Collection[TableRef], "ConnectorFile"], Mapping[TableRef, str]]
Instances = frozenset[str]
"""The instances that record one table. An instance that is dropped and recreated is another one."""
ReadInstances = Callable[[Source, Collection[TableRef], str], Mapping[TableRef, Instances]]
Misread = Callable[[Source, Mapping[TableRef, Mapping[str, str]]], Mapping[TableRef, str]]


@dataclass(frozen=True)
class Engine:
    """A kind of source database."""

    name: EngineName
    title: str
    system_schemas: str
    """Expression for the names of the server's own schemas, in any case."""
    scheme: str
    """Scheme of its URLs, such as `postgresql`."""
    port: int
    """Port of its servers by default."""
    client: Callable[[Database], Source]
    """Function that opens a connection."""
    ensure_database: Callable[[Database, str, str], None]
    """Function that creates a database if the server does not have it yet. It takes the server,
    with the administrator's login, the database's name and the new owner."""
    types: Callable[[], Mapping[str, TypeRule]]
    """Rules by which its types arrive in silver."""
    change_log: Callable[[Source, Mapping[str, str]], ChangeLog]
    """The change log of an open connection, for a connector's configuration."""
    connector_class: str
    """Class of Debezium's connector for it, as connector files name it."""
    connector: ConnectorTraits
    plugin: str
    """Name of that connector in the artefact lock."""
    reference: str
    """Name of the first source's secret in connector files."""
    preparation: Callable[[Preparation], str]
    """SQL that a promoted source needs before its connector starts; it is safe to run again."""
    sql_client: str
    """Command that runs `{file}`. It reads the connector's password from the environment variable
    `CDC_PASSWORD`: on a command line everybody on the machine could read it."""
    rds: Rds
    uncompared: tuple[Arrival, ...]
    """Types without a rule; the first expression that matches counts."""
    signal_columns: str
    """Columns of a connector's signal table, as its CREATE TABLE has them."""
    sql_files: SqlFiles
    """Forms of its SQL in the files of a project."""
    service: Callable[[], Service]
    """Its server in a lab on this machine."""
    client_variables: Callable[[Database, Path], dict[str, str]]
    """Function that returns the environment variables with which its own clients log in. It writes
    what is secret into files of the folder."""
    promote_rules: Callable[[], tuple[Rule, ...]]
    """Checks of a promotion to AWS that concern this engine alone."""
    conformance: Callable[[], Traits]
    """The form of the tables that `labctl test conformance` makes."""
    limits: Callable[[Source, TableRef, str], Limits] = lambda *_: NO_LIMITS
    """Limits of a table if it were in the publication of that name."""
    unrecorded: Unrecorded = lambda *_: {}
    """Reasons why not all changes of captured tables reach the file's connector, by table."""
    instances: ReadInstances | None = None
    """Instances that record each table for the publication of that name; None if the log has all. A
    table that nothing records is left out."""
    misread: Misread | None = None
    """Columns whose bytes a connector decodes by a wrong character set, by table. The mapping has
    the character sets that it knows, by table and column. None: the log has decoded text."""
    reload_refused: Callable[[Source, TableRef, Mapping[str, str]], str | None] = lambda *_: None
    """Reason why Debezium cannot read a table again while its changes go on; None if it can. The
    mapping is the connector's configuration."""
    beside_sources: str | None = None
    """A database on every server that belongs to no source; "" selects none at login. None:
    server-wide state is read from a source's own database."""
    schemas_are_databases: bool = False
    """True if what other engines call a schema is a database, so that a source names no other."""
    admin_client: str | None = None
    """Command with which a person runs SQL as the administrator."""
    database_in_topic: bool = False
    """True if Debezium's names of its tables, and so its topics, begin with the database."""
    default_schema: str | None = None
    """Schema of a table whose name has none; None if there is none."""
    database_variable: str | None = None
    """Variable in which its clients find the database; None if an option names it."""
    slots: Slots | None = None
    """Slots that keep the log for each reader; None if the log is kept for a fixed time."""
    databases: Callable[[SourceDatabase], tuple[str, ...]] = lambda source: (source.database,)
    """Databases that the server must have for a source."""
    capture_user: str = CDC_USER
    """Login of its connectors, in a lab on this machine."""
    holds_state: bool = False
    """True if other services keep their state in it."""
    capture_role: str = "cdc"
    """Role whose password among the lab's secrets that login uses."""
