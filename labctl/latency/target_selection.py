"""Choosing the tables of a lab for a run, and counting their rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from labctl.datasets import DataSet, SeedTable
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.lab.lifecycle.seeding import lab_data_sets
from labctl.latency.scenario import Scenario, Spread
from labctl.latency.targets import Target, describe_target
from labctl.sources import TableRef, connect
from labctl.tables import LabTable
from lakecontract.table_names import tables_called

__all__ = ["chosen_targets", "on_tables", "silver_rows", "smallest_table"]

Ask = Callable[[Lab, LabTable], Target]
"""Function that asks a table's source how the table can carry change numbers. Raises LabError
(USAGE) if it cannot."""


def _for_changes(lab: Lab, table: LabTable) -> Target:
    """Return how changes of `table` carry their numbers; see `describe_target`."""
    with connect(lab.endpoints, table.source) as source:
        return describe_target(table, source)


def _for_snapshot(lab: Lab, table: LabTable) -> Target:
    """Return how to tell rows of `table` apart in a snapshot; see `describe_target`."""
    with connect(lab.endpoints, table.source) as source:
        return describe_target(table, source, snapshot=True)


def on_tables(lab: Lab, scenario: Scenario, *, ask: Ask | None = None) -> Scenario:
    """Return `scenario` with the tables to run it on: the tables it names, if the lab has any.

    Otherwise they are the tables that the lab's data sets propose, or any other usable ones. Raises
    LabError (USAGE) if the lab has only some of the named tables, if two of them read the same
    topic, or if the lab has no usable table.
    """
    names = [table.name for table in lab.tables]
    if any(tables_called(name, names) for name in scenario.tables):
        _require_topics_of_their_own([lab.table(name) for name in scenario.tables])
        return scenario
    targets = chosen_targets(
        lab,
        scenario.spread,
        deletes=scenario.changes is not None and scenario.changes.deletes > 0,
        ask=ask or (_for_snapshot if scenario.snapshot else _for_changes),
    )
    tables = tuple(_shortest(target.silver, names) for target in targets)
    # The result looks as if the scenario's file had named these tables.
    return scenario.model_copy(update={"tables": tables, "spread": "one"})


def chosen_targets(
    lab: Lab, spread: Spread, *, deletes: bool, ask: Ask = _for_changes
) -> list[Target]:
    """Return the tables of `lab` to write numbered changes to, at most one per topic.

    With `deletes`, leave out tables that remove deleted rows from silver (lab.deletes=hard). Raises
    LabError (USAGE) with the reason for each table if none can be used.
    """
    found: list[Target] = []
    refused: list[str] = []
    for table in _best_first(lab):
        if not _adds(table, spread, found):
            continue
        if deletes and table.properties.deletes == "hard":
            refused.append(f"{table.name} is set to lab.deletes=hard: its deletes leave no trace")
            continue
        try:
            found.append(ask(lab, table))
        except LabError as error:
            if error.exit_code is not ExitCode.USAGE:
                raise
            refused.append(error.what)
    if not found:
        raise _none_usable(lab, refused)
    listed = [table for one in _data_sets(lab) for table in one.tables]
    return sorted(found, key=lambda target: _place(lab, target.table, listed))


def _count_at_source(lab: Lab, table: LabTable) -> int:
    """Return the number of rows in the source table of `table`."""
    with connect(lab.endpoints, table.source) as source:
        return source.count(TableRef(table.db_schema, table.source_name))


def silver_rows(
    lab: Lab, *, count: Callable[[Lab, LabTable], int] = _count_at_source
) -> dict[str, int]:
    """Return the expected number of silver rows, by table; tables of one topic have the same."""
    by_topic: dict[str, int] = {}
    for table in lab.tables:
        if table.topic not in by_topic:
            by_topic[table.topic] = count(lab, table)
    return {table.name: by_topic[table.topic] for table in lab.tables}


def smallest_table(rows: Mapping[str, int]) -> str:
    """Return the name of the table with the fewest rows; an empty one only if all are empty.

    An empty table may have no topic yet, so its twins would have nothing to catch up with.
    """
    return min(rows, key=lambda name: (rows[name] == 0, rows[name]))


def _data_sets(lab: Lab) -> list[DataSet]:
    return lab_data_sets(lab) if lab.config.data_sets else []


def _best_first(lab: Lab) -> list[LabTable]:
    """Return the tables that data sets prefer, then the others, merge-on-read tables first."""
    wished = [
        table
        for one in _data_sets(lab)
        for name in one.written
        for table in one.tables
        if table.name == name
    ]
    return sorted(
        lab.tables,
        key=lambda table: (
            _place(lab, table, wished),
            table.properties.table_type != "MERGE_ON_READ",
        ),
    )


def _place(lab: Lab, table: LabTable, listed: Sequence[SeedTable]) -> int:
    """Return the table's position in `listed`, or the length of `listed` if it is not there."""
    database = lab.config.sources[table.source].database
    for place, one in enumerate(listed):
        if (one.engine, one.schema, one.name) == (
            table.engine,
            table.db_schema,
            table.source_name,
        ) and one.database in (None, database):
            return place
    return len(listed)


def _adds(table: LabTable, spread: Spread, found: Sequence[Target]) -> bool:
    """Return whether the run should use the table in addition to those in `found`."""
    if spread == "one":
        return not found
    if spread == "each-source":
        return all(target.source != table.source for target in found)
    return all(target.table.topic != table.topic for target in found)


def _shortest(name: str, names: Sequence[str]) -> str:
    short = name.rpartition(".")[2]
    return short if tables_called(short, names) == [name] else name


def _require_topics_of_their_own(tables: Sequence[LabTable]) -> None:
    """Raise LabError (USAGE) if two tables read one topic: a change is followed into one table."""
    by_topic: dict[str, LabTable] = {}
    for table in tables:
        other = by_topic.setdefault(table.topic, table)
        if other is not table:
            raise LabError(
                f"{other.name} and {table.name} take in one topic, {table.topic}: a run follows "
                "its changes into one of them",
                hint="name one of the two",
                exit_code=ExitCode.USAGE,
            )


def _none_usable(lab: Lab, refused: Sequence[str]) -> LabError:
    if not lab.tables:
        return LabError(
            f"Lab {lab.name!r} has no table to run a scenario on",
            hint="labctl table add SOURCE.SCHEMA.TABLE captures one",
            exit_code=ExitCode.USAGE,
        )
    return LabError(
        f"Lab {lab.name!r} has no table that a scenario can be run on",
        hint="labctl table add SOURCE.SCHEMA.TABLE captures another; it needs a key of one "
        "integer column, and an integer or text column besides",
        details=tuple(refused),
        exit_code=ExitCode.USAGE,
    )
