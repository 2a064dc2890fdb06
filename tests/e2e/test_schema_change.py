"""The source's columns change while its rows stream: nothing is restarted, nothing is lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from labctl.lab.lab import Lab
from labctl.lab.observe.pipeline_state import silver_status
from labctl.lab.observe.service_status import read_status
from labctl.sources import Source
from labctl.testing.eventually import Eventually
from labctl.testing.plugin import SilverReader
from tests.e2e.capture_instances import recapture
from tests.e2e.wide_tables import WIDE, WideTable, insert_row

OpenSource = Callable[[str], Source]
Row = dict[str, Any]


@pytest.fixture(params=WIDE)
def table(request: pytest.FixtureRequest) -> WideTable:
    name: str = request.param
    return WIDE[name]


@pytest.fixture
def database(table: WideTable, source: OpenSource) -> Source:
    return source(table.engine)


@pytest.fixture
def arrives(table: WideTable, silver: SilverReader, eventually: Eventually) -> Callable[[int], Row]:
    """`arrives(7)`: the row of that key, once it is in silver."""

    def wait(key: int) -> Row:
        rows = eventually(
            lambda: silver(table.silver, f"id = {key}"), row=(table.silver, {"id": key})
        )
        return rows[0]

    return wait


def one_engine_always(always: str) -> pytest.MarkDecorator:
    """Parametrize a test by all tables, those of other engines than `always` in the long part."""
    return pytest.mark.parametrize(
        "table",
        [pytest.param(e, marks=() if e == always else pytest.mark.long) for e in WIDE],
        indirect=True,
    )


def generation(lab: Lab, table: WideTable) -> tuple[dict[str, int | None], int]:
    """The services' processes, and how often the table's query was started again."""
    pids = {service.name: service.pid for service in read_status(lab).services}
    return pids, silver_status(lab)["tables"][lab.table(table.silver).name]["restarts"]


WIDEN = {
    "postgres": "ALTER COLUMN {} TYPE bigint",
    "mysql": "MODIFY COLUMN {} bigint",
    "sqlserver": "ALTER COLUMN {} bigint",
}


def add_column(database: Source, table: WideTable, name: str, kind: str) -> None:
    noise = "" if table.engine == "sqlserver" else "COLUMN "
    database.execute(f"ALTER TABLE {table.ref} ADD {noise}{name} {kind}")
    recapture(database, table.ref)


def test_a_column_is_added(
    table: WideTable,
    database: Source,
    arrives: Callable[[int], Row],
    lab: Lab,
    verify_equal: Callable[..., None],
    new_key: Callable[[], int],
) -> None:
    before, after = new_key(), new_key()
    insert_row(database, table, before, "typical")
    arrives(before)
    running = generation(lab, table)
    name = f"added_{after}"
    add_column(database, table, name, "numeric(10,3)")
    insert_row(database, table, after, "typical")
    database.execute(f"UPDATE {table.ref} SET {name} = 1234567.125 WHERE id = {after}")
    verify_equal(table.silver)
    assert str(arrives(after)[name]) == "1234567.125"
    assert arrives(before)[name] is None
    assert generation(lab, table) == running


@one_engine_always("mysql")
def test_a_column_is_widened(
    table: WideTable,
    database: Source,
    arrives: Callable[[int], Row],
    lab: Lab,
    verify_equal: Callable[..., None],
    new_key: Callable[[], int],
) -> None:
    narrow, wide = new_key(), new_key()
    name = f"widened_{wide}"
    add_column(database, table, name, "integer")
    insert_row(database, table, narrow, "typical")
    database.execute(f"UPDATE {table.ref} SET {name} = 2147483647 WHERE id = {narrow}")
    verify_equal(table.silver)
    running = generation(lab, table)
    database.execute(f"ALTER TABLE {table.ref} {WIDEN[table.engine].format(name)}")
    recapture(database, table.ref)
    insert_row(database, table, wide, "typical")
    database.execute(f"UPDATE {table.ref} SET {name} = 9223372036854775807 WHERE id = {wide}")
    verify_equal(table.silver)
    assert arrives(wide)[name] == 2**63 - 1
    assert arrives(narrow)[name] == 2**31 - 1
    assert generation(lab, table) == running


@one_engine_always("postgres")
def test_a_column_is_dropped(
    table: WideTable,
    database: Source,
    arrives: Callable[[int], Row],
    lab: Lab,
    verify_equal: Callable[..., None],
    new_key: Callable[[], int],
) -> None:
    before, after = new_key(), new_key()
    name = f"dropped_{after}"
    add_column(database, table, name, "integer")
    insert_row(database, table, before, "typical")
    database.execute(f"UPDATE {table.ref} SET {name} = 7 WHERE id = {before}")
    verify_equal(table.silver)
    running = generation(lab, table)
    database.execute(f"ALTER TABLE {table.ref} DROP COLUMN {name}")
    recapture(database, table.ref)
    insert_row(database, table, after, "typical")
    assert arrives(after)[name] is None
    assert arrives(before)[name] == 7
    verify_equal(table.silver)
    assert generation(lab, table) == running
