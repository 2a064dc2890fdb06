"""What a database engine is to the lab: one declarative record."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labctl.config.endpoints import Database, SourceDatabase
from labctl.config.model import SourceEngine
from labctl.sources.base import Source, TableRef
from labctl.sources.change_log import ChangeLog
from labctl.sources.limits import NO_LIMITS, Limits

if TYPE_CHECKING:
    from labctl.kafkaconnect.files import ConnectorFile
    from labctl.sources.types import TypeRule

__all__ = ["CDC_USER", "Engine", "Preparation", "Rds"]

CDC_USER = "debezium"
"""Whom connectors log in as, unless their engine says otherwise."""


@dataclass(frozen=True)
class Preparation:
    """What an administrator prepares a source for, before its connector starts."""

    database: str
    schemas: tuple[str, ...]
    tables: tuple[TableRef, ...]
    user: str
    """Whom its connector logs in as."""
    publication: str
    """PostgreSQL's, as the connector's file names it."""
    published: tuple[TableRef, ...]
    """Those in that publication: another connector of the database may read from it, too."""
    multi_az: bool
    signals: TableRef | None = None
    """Its connector's signal table, where labctl makes it."""


@dataclass(frozen=True)
class Rds:
    """An engine on Amazon RDS."""

    majors: tuple[str, ...]
    """Those in which change data capture is documented."""
    major: Callable[[str], str]
    """The part of a version that names the parameter family: `17`, `8.4`, `15.0`."""
    parameters: Callable[[int], Mapping[str, str]] = lambda _: {}
    """What change data capture asks of the instance, for so many connectors."""
    licensed: bool = False
    """Whether it comes in editions with a licence, as SQL Server does. The instance then has no
    database at first."""


Unrecorded = Callable[[Source, Collection[TableRef], "ConnectorFile"], Mapping[TableRef, str]]


@dataclass(frozen=True)
class Engine:
    """A kind of source database."""

    name: SourceEngine
    title: str
    client: Callable[[Database], Source]
    """Opens a connection."""
    ensure_database: Callable[[Database, str, str], None]
    """Creates a database when the server does not have it yet: of which server, as its
    administrator, the database's name, and whose it becomes."""
    types: Callable[[], Mapping[str, TypeRule]]
    """How its types arrive in silver."""
    change_log: Callable[[Source, Mapping[str, str]], ChangeLog]
    """The log behind an open connection, as a connector's configuration reads it."""
    connector_class: str
    """Debezium's connector for it, as connector files name it."""
    plugin: str
    """That connector in the artefact lock."""
    reference: str
    """What connector files call the secret of the first source."""
    preparation: Callable[[Preparation], str]
    """The SQL a promoted source needs before its connector starts; safe to run again."""
    sql_client: str
    """The command that runs `{file}`. The environment's `CDC_PASSWORD` is the connector's password:
    on a command line everybody on the machine could read it."""
    rds: Rds
    limits: Callable[[Source, TableRef, str], Limits] = lambda *_: NO_LIMITS
    """What of a table no change would have, if a publication of that name had it."""
    unrecorded: Unrecorded = lambda *_: {}
    """Why changes of captured tables do not all reach the connector of that file, by table."""
    beside_sources: str | None = None
    """A database of every server that is no source's; "" is none at all. Without it a server has
    nothing to tell but what a source's database tells."""
    databases: Callable[[SourceDatabase], tuple[str, ...]] = lambda source: (source.database,)
    """What has to be made in the server for a source."""
    capture_user: str = CDC_USER
    """Whom its connectors log in as, in a lab on this machine."""
    capture_role: str = "cdc"
    """That login's password, among the lab's."""
