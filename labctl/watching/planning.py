"""What a change of files asks for: the least that brings a running lab in line with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from labctl.config.model import LabConfig, Source
from labctl.lab.pipeline import WrittenBy
from labctl.services import connect, silver
from labctl.watching.places import Role, Use

__all__ = ["CONNECT", "SILVER", "Kind", "Project", "Step", "TableFacts", "plan"]

SILVER, CONNECT = silver.SERVICE.name, connect.SERVICE.name


class Kind(StrEnum):
    """What is done for a change, in the order in which it is."""

    UP = "up"
    SCHEMA = "schema"
    SERVICE = "service"
    CONNECTOR = "connector"
    START_TABLE = "start table"
    TABLE = "table"
    NOTE = "note"
    """Nothing, and why."""


@dataclass(frozen=True)
class Step:
    """One thing that is done, whole or not at all."""

    kind: Kind
    what: str
    """The source of a schema, or the service, the connector, the table; of a note its words."""
    files: tuple[Path, ...]
    """Why: the files that were saved."""


@dataclass(frozen=True)
class TableFacts:
    """A silver table, as its properties say."""

    address: str
    """`orders.public.customer`: where it comes from."""
    topic: str
    digest: str
    """Of all that its properties say; empty where it is not known what it runs by."""
    files: frozenset[Path]
    """Its properties file, and those that it includes."""


@dataclass(frozen=True)
class Project:
    """What a project's files say, as far as the steps depend on it."""

    config: LabConfig | None
    """None where it is not known what the lab runs by."""
    tables: Mapping[str, TableFacts]
    sinks: frozenset[str]
    """The sink connectors that take a table's topic."""


def plan(
    before: Project, after: Project, changed: Mapping[Path, Use], bronze_by: WrittenBy | None
) -> list[Step]:
    """The steps for the files in `changed`, `before` being what the lab runs by."""
    found = [
        *_lab_steps(before, after, changed),
        *_schema_steps(changed),
        *_file_steps(after, changed, bronze_by),
        *_table_steps(before.tables, after.tables, changed),
    ]
    return sorted(_least(found), key=lambda step: list(Kind).index(step.kind)) or [
        Step(Kind.NOTE, "it says what it said before", tuple(sorted(changed)))
    ]


def _least(steps: list[Step]) -> list[Step]:
    """The steps without those that another one includes, each once with all its files."""
    files: dict[tuple[Kind, str], set[Path]] = {}
    for step in steps:
        files.setdefault((step.kind, step.what), set()).update(step.files)
    larger = {Kind.SCHEMA: (Kind.UP, ""), Kind.TABLE: (Kind.SERVICE, SILVER)}
    for kind, what in list(files):
        whole = larger.get(kind)
        if whole in files:
            files[whole] |= files.pop((kind, what))
    return [Step(kind, what, tuple(sorted(of))) for (kind, what), of in files.items()]


def _schema_steps(changed: Mapping[Path, Use]) -> Iterator[Step]:
    for path, use in changed.items():
        if use.role is Role.SCHEMA:
            yield Step(Kind.SCHEMA, use.name, (path,))


def _file_steps(
    after: Project, changed: Mapping[Path, Use], bronze_by: WrittenBy | None
) -> Iterator[Step]:
    sources = after.config.sources.values() if after.config else ()
    captured = {source.connector for source in sources}
    for path, use in changed.items():
        if use.role in (Role.CODE, Role.SPARK):
            yield Step(Kind.SERVICE, SILVER, (path,))
        elif use.role is Role.WORKER:
            yield Step(Kind.SERVICE, CONNECT, (path,))
        elif use.role is Role.CONNECTOR and use.name in after.sinks and bronze_by != "connect":
            # The application reads it when it starts: it writes the files as the connector would.
            yield Step(Kind.SERVICE, SILVER, (path,))
        elif use.role is Role.CONNECTOR and use.name in captured | after.sinks:
            yield Step(Kind.CONNECTOR, use.name, (path,))
        elif use.role is Role.CONNECTOR:
            yield Step(Kind.NOTE, "no source or table of this lab uses it", (path,))


def _table_steps(
    before: Mapping[str, TableFacts], after: Mapping[str, TableFacts], changed: Mapping[Path, Use]
) -> Iterator[Step]:
    saved = {path for path, use in changed.items() if use.role is Role.PROPERTIES}

    def of(*facts: TableFacts) -> tuple[Path, ...]:
        own = {path for one in facts for path in one.files} & saved
        # What lab.toml or a connector's file says may be the cause.
        return tuple(sorted(own or changed))

    for name, was in before.items():
        now = after.get(name)
        if now is None:
            yield Step(Kind.UP, "", of(was))
        elif (now.topic, now.address) != (was.topic, was.address):
            yield Step(Kind.SERVICE, SILVER, of(was, now))
        elif now.digest != was.digest:
            yield Step(Kind.TABLE, name, of(was, now))
    for name, facts in after.items():
        if name not in before:
            yield Step(Kind.START_TABLE, facts.address, of(facts))


def _lab_steps(before: Project, after: Project, changed: Mapping[Path, Use]) -> Iterator[Step]:
    files = tuple(path for path, use in changed.items() if use.role is Role.LAB)
    if not files or after.config is None:
        return
    if before.config is None or _needs_up(before.config, after.config):
        yield Step(Kind.UP, "", files)
    if before.config is not None:
        if _silver_reads_otherwise(before.config, after.config):
            yield Step(Kind.SERVICE, SILVER, files)
        for said in _left_to_do(before.config, after.config):
            yield Step(Kind.NOTE, said, files)


def _needs_up(was: LabConfig, now: LabConfig) -> bool:
    """Whether `labctl up` would do something about the difference."""
    return any(
        getattr(was, section) != getattr(now, section)
        for section in ("sources", "services", "silver", "lake")
    ) or was.profiles.get(was.profile) != now.profiles.get(was.profile)


def _silver_reads_otherwise(was: LabConfig, now: LabConfig) -> bool:
    """Whether what differs is in a file that the application reads when it starts: `up` looks at
    command lines."""
    before, after = was.settings(SILVER), now.settings(SILVER)
    own = (before.heap, before.quick_start) != (after.heap, after.quick_start)
    return own or was.lake.region != now.lake.region


def _left_to_do(was: LabConfig, now: LabConfig) -> Iterator[str]:
    """What `labctl up` does not do about it, each with the command that does."""
    if was.name != now.name:
        yield f"name: {now.name!r} is another lab; labctl up --lab {now.name} makes it"
    if was.profile != now.profile:
        yield (
            f"profile: this lab stays with the one it was made with; labctl up --lab OTHER "
            f"--profile {now.profile} makes one of {now.profile!r}"
        )
    if was.data_sets != now.data_sets:
        yield "data_sets: labctl seed loads them"
    if was.connectors != now.connectors:
        yield "connectors: looked at when a connector is applied; labctl connectors apply"
    for name in was.sources.keys() - now.sources.keys():
        connector = was.sources[name].connector
        yield f"sources.{name}: labctl connectors delete {connector} ends its capture"
    for name, source in now.sources.items():
        if not source.makes_tables and _captures_otherwise(was.sources.get(name), source):
            yield f"sources.{name}: labctl connectors apply {source.connector} captures it"
    others = {key for key in was.profiles.keys() | now.profiles.keys() if key != was.profile}
    if any(was.profiles.get(key) != now.profiles.get(key) for key in others):
        yield "profiles: nothing of this lab runs by the others; labctl promote reads those of AWS"


def _captures_otherwise(was: Source | None, now: Source) -> bool:
    return was is None or (was.engine, was.database, was.schemas, was.connector) != (
        now.engine,
        now.database,
        now.schemas,
        now.connector,
    )
