"""A forecast of how a table's columns arrive in silver, made before the table is captured.

`table_findings` takes a table as its database describes it and the configuration of the connector
that is to read it. Facts that only its engine can tell are in its `Limits`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from labctl.engine_names import EngineName
from labctl.kafkaconnect.column_filters import excluding, is_taken, pattern_of
from labctl.kafkaconnect.keys.check import unwrapping
from labctl.kafkaconnect.keys.lists import names
from labctl.sources.base import SourceColumn, SourceTable, TableRef
from labctl.sources.capture_limits import NO_LIMITS, Limits
from labctl.sources.engine_registry import ENGINES
from labctl.sources.uncompared import arrival
from lakecontract.bookkeeping import BOOKKEEPING
from lakecontract.deletes import DELETED
from sqlapi.hudi.names import META_PREFIX

__all__ = ["Finding", "Verdict", "name_problems", "silver_column", "table_findings"]

Verdict = Literal["exact", "as text", "lossy", "not compared", "not captured", "refused"]
"""Verdict on a column. `not compared`: it arrives, but nothing proves that it is exact."""

_TEXT_TYPES = re.compile(r"(?:n?(?:var)?char|n?text|(?:tiny|medium|long)text|character.*|enum|set)")
_TOPIC_NAME = re.compile(r"[A-Za-z0-9._-]+")


@dataclass(frozen=True)
class Finding:
    """The verdict on one column, or on the whole table."""

    column: str
    """The column's name; empty for the table."""
    verdict: Verdict
    silver: str = ""
    """The column's name in silver; empty if it does not arrive there."""
    why: str = ""
    change: str = ""
    """The setting that changes the verdict."""
    stops_connector: bool = False
    """True if the connector fails because of it, which stops all its other tables too."""

    def sentence(self, ref: TableRef) -> str:
        """Return a refusal as one sentence, with the setting that changes it."""
        return f"{ref}: {self.why}" + (f"; {self.change}" if self.change else "")


def silver_column(name: str) -> str:
    """Return the name that a column has in Debezium's Avro records and in silver."""
    # Java counts a character outside the Basic Multilingual Plane, such as an emoji, as two.
    plain = re.sub(r"[^A-Za-z0-9_]", lambda odd: "_" * (len(odd[0].encode("utf-16-le")) // 2), name)
    return f"_{plain}" if name[:1].isdigit() else plain


def table_findings(
    table: SourceTable,
    engine: EngineName,
    config: Mapping[str, str],
    beside: Sequence[TableRef] = (),
    limits: Limits = NO_LIMITS,
) -> tuple[Finding, ...]:
    """Return one or more findings per column, and those of the table; refusals come first.

    `beside` lists the other tables that the connector reads.
    """
    names = [*(c.name for c in table.columns), *(c.name for c in table.unread)]
    taken = {name for name in names if is_taken(config, table.ref, name)}
    by_bytes = ENGINES[engine].connector.names_read_as_bytes
    refused = [
        *_topic_problems(table.ref, beside),
        *_key_problems(table, engine, set(names) - taken),
        *(_log_problems(table.ref, names, ENGINES[engine].title) if by_bytes else ()),
        *name_problems(table.ref, names, config, engine),
    ]
    if limits.refused is not None:
        refused.insert(0, Finding("", "refused", why=limits.refused))
    plain = [
        *(_readable(column) for column in table.columns if column.name in taken),
        *(
            Finding(name, verdict, silver_column(name) if verdict != "not captured" else "", why)
            for name, (verdict, why) in (
                (column.name, arrival(engine, column.type))
                for column in table.unread
                if column.name in taken
            )
        ),
        *(
            Finding(name, "not captured", why=f"its connector leaves it out by {_filter(config)}")
            for name in names
            if name not in taken
        ),
    ]
    rows = [Finding("", "lossy", why=limits.unlogged_rows)] if limits.unlogged_rows else []
    unlogged = [
        Finding(name, "not captured", why=why, change="`labctl table add` leaves it out")
        for name, why in limits.columns().items()
        if name in taken
    ]
    found: dict[str, Finding] = {}
    for finding in (*refused, *unlogged, *plain):
        found.setdefault(finding.column, finding)
    refused_columns = {finding.column for finding in refused}
    columns = (found[name] for name in names if name not in refused_columns)
    return (*refused, *rows, *columns)


def _filter(config: Mapping[str, str]) -> str:
    return "column.include.list" if config.get("column.include.list") else "column.exclude.list"


def _readable(column: SourceColumn) -> Finding:
    """Return the finding for a column that `labctl verify` compares."""
    rule, kind = column.rule, column.declared.name
    silver = silver_column(column.name)
    notes = [rule.note] if rule.note else []
    if silver != column.name:
        notes.insert(0, f"called {silver} in silver")
    why = "; ".join(notes)
    if rule.is_lossy:
        return Finding(column.name, "lossy", silver, why)
    if str(column.arrow) == "string" and _TEXT_TYPES.fullmatch(kind) is None:
        return Finding(column.name, "as text", silver, why)
    return Finding(column.name, "exact", silver, why)


def _topic_problems(ref: TableRef, beside: Sequence[TableRef]) -> Iterator[Finding]:
    """Yield findings for a name that Debezium changes in the topic, or that clashes in Kafka."""
    odd = next((name for name in (ref.schema, ref.name) if not _TOPIC_NAME.fullmatch(name)), None)
    if odd is not None:
        yield Finding(
            "",
            "refused",
            why=f"the name {odd!r} is another one in its topic: a topic has only letters of ASCII, "
            "digits, `.`, `_` and `-`",
            change="rename it at the source",
        )
    for other in beside:
        if other != ref and _topic(other) == _topic(ref):
            yield Finding(
                "",
                "refused",
                why=f"its topic and that of {other} are called alike: the rows of both would be in "
                "one",
                change=f'leave one out: "table.exclude.list": "{pattern_of(other)}"',
                stops_connector=True,
            )


def _topic(ref: TableRef) -> str:
    """Return the topic name in the form in which Kafka compares topics."""
    return re.sub(r"[^A-Za-z0-9-]", "_", str(ref))


def _key_problems(table: SourceTable, engine: EngineName, left_out: set[str]) -> Iterator[Finding]:
    unread = {column.name: column.type for column in table.unread}
    for key in table.keys:
        lost = key in unread and arrival(engine, unread[key])[0] == "not captured"
        if lost or key in left_out:
            why = f"its type is {unread[key]}" if lost else "the connector leaves it out"
            yield Finding(
                key,
                "refused",
                why=f"its key column {key!r} does not come along: {why}",
                change="give the table another primary key" if lost else "let the column through",
            )


def name_problems(
    ref: TableRef, names: Sequence[str], config: Mapping[str, str], engine: EngineName
) -> Iterator[Finding]:
    """Yield findings for columns whose name in silver clashes with another or is reserved."""
    added = {silver_column(name) for name in _added(config)}
    taken = [name for name in names if is_taken(config, ref, name)]
    for name in taken:
        silver = silver_column(name)
        if silver in added:
            yield _refused(ref, name, f"the connector adds a column {silver} of its own", True)
        elif silver.lower().startswith(BOOKKEEPING):
            kept = "Hudi's" if silver.lower().startswith(META_PREFIX) else "labctl's bookkeeping"
            yield _refused(ref, name, f"in silver, names that begin so are {kept}", False)
    refuses_case_twins = ENGINES[engine].connector.refuses_case_twins
    for name, other in _alike(names, str.lower) if refuses_case_twins else ():
        yield Finding(
            name,
            "refused",
            why=f"its columns {other!r} and {name!r}: Debezium fails for names that differ in "
            "case only, even if one is left out",
            change=f"rename one at the source (ALTER TABLE {ref} RENAME COLUMN …), or leave "
            f'the table out: "table.exclude.list": "{pattern_of(ref)}"',
            stops_connector=True,
        )
    for name, other in _alike(taken, lambda name: silver_column(name).lower()):
        silver = silver_column(name)
        if silver == silver_column(other):
            yield _twins(ref, name, other, f"both become {silver}", True)
        elif not (refuses_case_twins and name.lower() == other.lower()):
            yield _twins(ref, name, other, "silver tells no upper case from lower case", False)


def _alike(names: Sequence[str], form: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Yield each name with every one before it that has the same form."""
    before: dict[str, list[str]] = {}
    for name in names:
        same = before.setdefault(form(name), [])
        yield from ((name, other) for other in same)
        same.append(name)


def _log_problems(ref: TableRef, names: Sequence[str], title: str) -> Iterator[Finding]:
    """Yield findings for columns whose name differs in the log. Column filters match the
    original name, so that leaving them out does not help."""
    for name in names:
        if not name.isascii():
            yield Finding(
                name,
                "refused",
                why=f"its column {name!r}: Debezium reads each byte of a name in {title}'s log "
                "as a character, so that changes would go into another column",
                change=f"rename it at the source: ALTER TABLE {ref} RENAME COLUMN …",
            )


def _refused(ref: TableRef, name: str, why: str, stops: bool) -> Finding:
    return Finding(
        name,
        "refused",
        why=f"its column {name!r}: {why}",
        change=f'leave it out: "column.exclude.list": "{excluding(ref, name)}"',
        stops_connector=stops,
    )


def _twins(ref: TableRef, name: str, other: str, why: str, stops: bool) -> Finding:
    return Finding(
        name,
        "refused",
        why=f"its columns {other!r} and {name!r}: {why}",
        change=f'leave one out: "column.exclude.list": "{excluding(ref, name)}"',
        stops_connector=stops,
    )


def _added(config: Mapping[str, str]) -> Iterator[str]:
    """Yield the names of the columns that the connector's transforms add to each row."""
    for alias in unwrapping(config):
        begin = f"transforms.{alias}.add.fields"
        yield DELETED  # which the transform always adds
        prefix = config.get(f"{begin}.prefix", "__")
        for field in names(config.get(begin)):
            source, _, renamed = field.partition(":")
            yield prefix + (renamed or source).replace(".", "_")
