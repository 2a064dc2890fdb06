"""A gap between two capture instances of a table is named until the table is right again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from types import SimpleNamespace
from typing import cast

import pytest

from labctl.engines.sqlserver.sqlserver_capture_instance import sqlserver_instances
from labctl.lab.connectors.capture_instances import (
    follow_instances,
    forget_instances,
    lost_instances,
    note_instances,
)
from labctl.lab.lab import Lab
from labctl.sources import Source, TableRef
from labctl.sources.base import Row
from labctl.state.lab_state import LabState
from labctl.tables import LabTable

NAME = "sales.orders"
OLD, NEW, NEWEST = "dbo_orders of 2026-01-01", "orders_2 of 2026-01-02", "dbo_orders of 2026-01-03"


@pytest.fixture
def lab(state_home: object) -> Lab:
    sources = {"shop": SimpleNamespace(connector="shop_connector", engine="sqlserver")}
    config = SimpleNamespace(sources=sources)
    return cast(
        Lab, SimpleNamespace(config=config, state=LabState("own"), profile="native", promoted=None)
    )


def problem(lab: Lab, *instances: str) -> str | None:
    table = SimpleNamespace(name=NAME, source="shop", db_schema="dbo", source_name="orders")
    return lost_instances(lab, [cast(LabTable, table)], {NAME: frozenset(instances)}).get(NAME)


@pytest.mark.parametrize(
    ("seen", "is_lost"),
    [
        ([{OLD}, {OLD}], False),
        # A second instance for a change of the table's columns; then the first one is dropped.
        ([{OLD}, {OLD, NEW}, {NEW}], False),
        ([{OLD}, {NEWEST}], True),
        ([{OLD, NEW}, {NEWEST}], True),
        # It stays lost, whatever is made on top of it.
        ([{OLD}, {NEW}, {NEW, NEWEST}, {NEWEST}], True),
        # A table without capture has a problem of its own. It is lost once it is captured again.
        ([{OLD}, set(), {NEWEST}], True),
        ([set(), {OLD}], False),
    ],
)
def test_a_table_whose_capture_was_off_for_a_while_is_named(
    lab: Lab, seen: Sequence[set[str]], *, is_lost: bool
) -> None:
    *_, said = [problem(lab, *instances) for instances in seen]
    assert (said is not None) == is_lost
    if said is not None:
        assert "dbo.orders" in said
        assert f"labctl connectors backfill {NAME}" in said
        assert "labctl connectors snapshot shop_connector --start-over" in said


def test_it_is_named_until_its_rows_are_known_to_be_right(lab: Lab) -> None:
    """An application of the connectors, which makes the instance again, is no proof of that."""
    note_instances(lab, {NAME: frozenset({OLD})})
    assert follow_instances(lab, {NAME: frozenset({NEW})}) == [NAME]
    assert problem(lab, NEW) is not None
    note_instances(lab, {NAME: frozenset({NEW})})
    assert problem(lab, NEW) is None
    forget_instances(lab, NAME)
    assert problem(lab, NEWEST) is None, "a table that was added again"


def test_an_instance_that_connectors_were_applied_beside_is_no_gap(lab: Lab) -> None:
    note_instances(lab, {NAME: frozenset({OLD})})
    assert follow_instances(lab, {NAME: frozenset({OLD, NEW})}) == []
    assert problem(lab, NEW) is None


def test_each_profile_has_notes_of_its_own(lab: Lab) -> None:
    """Its data is elsewhere: databases in containers have other instances."""
    note_instances(lab, {NAME: frozenset({OLD})})
    vars(lab)["profile"] = "compose"
    assert problem(lab, NEW) is None


def test_an_instance_of_the_same_name_is_another_one() -> None:
    found: dict[str, list[Row]] = {"dbo.orders": [("dbo_orders", datetime(2026, 1, 2))]}
    source = SimpleNamespace(
        captured=lambda _: {TableRef("dbo", "orders")},
        execute=lambda _sql, parameters: found[parameters[0]],
        qualified=str,
    )
    refs = [TableRef("dbo", "orders"), TableRef("dbo", "uncaptured")]
    first = sqlserver_instances(cast(Source, source), refs, "")
    found["dbo.orders"] = [("dbo_orders", datetime(2026, 1, 3))]
    second = sqlserver_instances(cast(Source, source), refs, "")
    assert list(first) == list(second) == refs[:1]
    assert not first[refs[0]] & second[refs[0]]
