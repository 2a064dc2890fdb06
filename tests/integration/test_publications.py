"""A publication that is there already, and keeps changes from its connector."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from labctl.config.endpoints import Endpoints
from labctl.engines.postgres.postgres_publication import OPTIONS_OF_18, read_publication, readded
from labctl.errors import LabError
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.sources import ENGINES, Source, TableRef, connect
from tests.integration.test_owner import administrator

pytestmark = pytest.mark.long

ALL_CHANGES = "publish = 'insert, update, delete, truncate'"
ENGINE = ENGINES["postgres"]


def unrecorded(source: Source, ref: TableRef) -> str | None:
    """Return why changes of a table do not all come by the publication of its schema's name."""
    file = ConnectorFile("c", Path("c.json"), {"publication.name": ref.schema})
    return ENGINE.unrecorded(source, [ref], file).get(ref)


@pytest.fixture
def source(endpoints: Endpoints) -> Iterator[Source]:
    with connect(endpoints, "postgres") as opened:
        yield opened


@pytest.fixture
def admin(endpoints: Endpoints) -> Iterator[Source]:
    with administrator(endpoints, "postgres") as opened:
        yield opened


@pytest.fixture
def ref(source: Source, admin: Source) -> Iterator[TableRef]:
    """A table in a schema of its own; the publication of that name goes with it."""
    ref = TableRef(f"p_{uuid.uuid4().hex[:8]}", "t")
    source.execute(f"CREATE SCHEMA {ref.schema}")
    source.execute(f"CREATE TABLE {ref} (id integer PRIMARY KEY, v text, n integer)")
    yield ref
    admin.execute(f"DROP PUBLICATION IF EXISTS {ref.schema}")
    source.execute(f"DROP SCHEMA {ref.schema} CASCADE")


@pytest.mark.parametrize(
    "options",
    [
        "publish = 'insert, update'",
        "publish = 'insert, update, delete'",
        "publish_via_partition_root = false",
    ],
)
def test_options_of_labctls_own_publication_are_put_right(
    source: Source, ref: TableRef, options: str
) -> None:
    source.execute(f"CREATE PUBLICATION {ref.schema} FOR TABLE {ref} WITH ({options})")
    why = unrecorded(source, ref)
    assert why == f"publication {ref.schema} does not publish every change: labctl connectors apply"
    assert ENGINE.limits(source, ref, ref.schema).refused is None
    source.capture([ref], ref.schema)
    publication = read_publication(source, ref.schema)
    assert publication is not None
    assert publication.wrong == ()
    assert unrecorded(source, ref) is None


@pytest.mark.parametrize(
    ("made", "correction"),
    [
        ("FOR TABLE {ref} WITH (publish = 'insert')", f"SET ({ALL_CHANGES}, "),
        (
            "FOR ALL TABLES WITH (publish = 'insert, update', {others})",
            f"SET ({ALL_CHANGES})",
        ),
        ("WITH ({others})", "ADD TABLE {ref}"),
    ],
)
def test_somebody_elses_publication_is_refused_with_what_to_run(
    source: Source, admin: Source, ref: TableRef, made: str, correction: str
) -> None:
    others = "publish_via_partition_root = true, publish_generated_columns = stored"
    admin.execute(f"CREATE PUBLICATION {ref.schema} {made.format(ref=ref, others=others)}")
    why = ENGINE.limits(source, ref, ref.schema).refused
    assert why is not None
    assert "labctl may not alter it" in why
    statement = why.partition(f"run, as {admin.execute('SELECT current_user')[0][0]}: ")[2]
    assert correction.format(ref=source.qualified(ref)) in statement
    assert unrecorded(source, ref) == why
    admin.execute(statement)
    assert ENGINE.limits(source, ref, ref.schema).refused is None
    source.capture([ref], ref.schema)
    assert unrecorded(source, ref) is None
    if "ALL" in made:
        source.release(ref, ref.schema)


def test_a_row_filter_is_refused_and_a_column_list_names_its_columns(
    source: Source, ref: TableRef
) -> None:
    source.execute(
        f"CREATE PUBLICATION {ref.schema} FOR TABLE {ref} (id, v) WHERE (id > 1)"
        " WITH (" + OPTIONS_OF_18 + ")"
    )
    limits = ENGINE.limits(source, ref, ref.schema)
    assert limits.refused is not None
    assert "has a row filter for it" in limits.refused
    assert list(limits.columns()) == ["n"]
    correction = readded(source, ref.schema, ref)
    assert correction in limits.columns()["n"]
    assert unrecorded(source, ref) == limits.refused
    for statement in correction.split("; "):
        source.execute(statement)
    limits = ENGINE.limits(source, ref, ref.schema)
    assert (limits.refused, limits.columns()) == (None, {})


def test_a_table_in_the_place_of_another_is_not_recorded(source: Source, ref: TableRef) -> None:
    source.capture([ref], ref.schema)
    assert unrecorded(source, ref) is None
    source.execute(f"ALTER TABLE {ref} RENAME TO t_old")
    source.execute(f"CREATE TABLE {ref} (id integer PRIMARY KEY, v text)")
    assert "does not have the table that is" in str(unrecorded(source, ref))
    source.capture([ref], ref.schema)
    assert unrecorded(source, ref) is None


def test_a_virtual_column_that_is_added_is_told_until_the_connector_is_applied(
    source: Source, ref: TableRef
) -> None:
    source.capture([ref], ref.schema)
    source.execute(f"INSERT INTO {ref} VALUES (1, 'a', 1)")
    source.execute(f"ALTER TABLE {ref} ADD g text GENERATED ALWAYS AS (upper(v)) VIRTUAL")
    with pytest.raises(LabError, match="unpublished generated columns"):
        source.execute(f"UPDATE {ref} SET v = 'b'")
    assert "refuses its UPDATE and DELETE" in str(unrecorded(source, ref))
    source.capture([ref], ref.schema)
    assert unrecorded(source, ref) is None
    assert source.affect(f"UPDATE {ref} SET v = 'b'") == 1
