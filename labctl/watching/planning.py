"""Planning the smallest steps that bring a running lab in line with changed files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from labctl.config.lab_config import LabConfig, Source
from labctl.lab.observe.pipeline_state import WrittenBy
from labctl.services import connect_service, silver_service
from labctl.watching.places import Role, Use

__all__ = ["CONNECT", "SILVER", "Kind", "Project", "Step", "TableFacts", "plan"]

SILVER, CONNECT = silver_service.SERVICE.name, connect_service.SERVICE.name


class Kind(StrEnum):
    """The kinds of steps, in the order in which they are carried out."""

    UP = "up"
    SCHEMA = "schema"
    SERVICE = "service"
    CONNECTOR = "connector"
    START_TABLE = "start table"
    TABLE = "table"
    NOTE = "note"
    """No action, only a message with the reason."""


@dataclass(frozen=True)
class Step:
    """A step, which is carried out completely or not at all."""

    kind: Kind
    what: str
    """Name of the source, service, connector or table; for a note, its text."""
    files: tuple[Path, ...]
    """Saved files that are the reason for the step."""


@dataclass(frozen=True)
class TableFacts:
    """A silver table, according to its properties."""

    address: str
    """Address of its source table, such as `orders.public.customer`."""
    topic: str
    digest: str
    """Digest of all its properties; empty if it is unknown which ones it runs with."""
    files: frozenset[Path]
    """Properties file of the table, and the files that it includes."""


@dataclass(frozen=True)
class Project:
    """The content of a project's files, as far as the steps depend on it."""

    config: LabConfig | None
    """Configuration of the lab; None if it is unknown which one the lab runs with."""
    tables: Mapping[str, TableFacts]
    sinks: frozenset[str]
    """Names of the sink connectors that read a table's topic."""


def plan(
    before: Project, after: Project, changed: Mapping[Path, Use], bronze_by: WrittenBy | None
) -> list[Step]:
    """Return the steps for the files in `changed`; `before` is what the lab runs with."""
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
    """Return each step once with all its files, without steps that another one includes."""
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
            # The application writes bronze with this file's settings, and reads it when it starts.
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
        # The cause may be lab.toml or a connector's file.
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
    """Return whether `labctl up` would act on the difference."""
    return any(
        getattr(was, section) != getattr(now, section)
        for section in ("sources", "services", "silver", "lake")
    ) or was.profiles.get(was.profile) != now.profiles.get(was.profile)


def _silver_reads_otherwise(was: LabConfig, now: LabConfig) -> bool:
    """Return whether a setting differs that the application reads from a file when it starts.

    `up` does not notice such a difference, because it compares command lines.
    """
    before, after = was.settings(SILVER), now.settings(SILVER)
    own = (before.heap, before.quick_start) != (after.heap, after.quick_start)
    return own or was.lake.region != now.lake.region


def _left_to_do(was: LabConfig, now: LabConfig) -> Iterator[str]:
    """Yield a message for each difference that `labctl up` ignores, with the command for it."""
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
