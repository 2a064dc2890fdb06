"""What a saved file asks for: the least that brings the lab in line with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from labctl.lab.observe.pipeline_state import WrittenBy
from labctl.watching.checking import read_project
from labctl.watching.places import Use, digest_of, find_places
from labctl.watching.planning import Kind, Step, plan
from tests.unit.watching.conftest import (
    INVOICE,
    base_of,
    connector_of,
    edit,
    lab_of,
    properties_of,
    sink_of,
)

Change = Callable[[Path], None]


def steps_of(project: Path, change: Change, bronze_by: WrittenBy = "spark") -> list[Step]:
    """What is planned for a change of the project's files."""

    def look() -> dict[Path, tuple[Use, str | None]]:
        uses = find_places(project, lab_of(project).config, project / "lab.toml").uses
        return {path: (use, digest_of(path)) for path, use in uses.items()}

    before, was = read_project(lab_of(project)), look()
    change(project)
    after, now = read_project(lab_of(project)), look()
    changed = {
        path: (now.get(path) or was[path])[0]
        for path in was.keys() | now.keys()
        if was.get(path) != now.get(path)
    }
    return plan(before, after, changed, bronze_by)


def said(steps: list[Step]) -> list[tuple[Kind, str]]:
    return [(step.kind, step.what) for step in steps]


def write(name: str, text: str) -> Change:
    def change(project: Path) -> None:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return change


def put(path_of: Callable[[Path], Path], old: str, new: str) -> Change:
    return lambda project: edit(path_of(project), old, new)


def append(path_of: Callable[[Path], Path], line: str) -> Change:
    def change(project: Path) -> None:
        path_of(project).write_text(path_of(project).read_text() + line)

    return change


def lab_toml(project: Path) -> Path:
    return project / "lab.toml"


ORDERS = "source_connector_orders"
HARD = "lab.deletes=hard\n"


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(
            put(connector_of, "{", '{"max.batch.size": "50",'),
            [(Kind.CONNECTOR, ORDERS)],
            id="a connector",
        ),
        pytest.param(
            append(lambda project: properties_of(project, "invoice"), HARD),
            [(Kind.TABLE, "shop.invoice")],
            id="a table",
        ),
        pytest.param(
            append(base_of, HARD),
            [(Kind.TABLE, "shop.customer"), (Kind.TABLE, "shop.invoice")],
            id="all tables",
        ),
        pytest.param(
            append(base_of, "# why\n"),
            [(Kind.NOTE, "it says what it said before")],
            id="a comment",
        ),
        pytest.param(
            lambda project: properties_of(project, "invoice").unlink(),
            [(Kind.UP, "")],
            id="a table that is gone",
        ),
        pytest.param(
            write(
                "spark/properties/orders.public.line.properties", INVOICE.replace("invoice", "line")
            ),
            [(Kind.START_TABLE, "orders.public.line")],
            id="a new table",
        ),
        pytest.param(
            put(
                lambda project: properties_of(project, "invoice"),
                "kafka.topic=orders.public.invoice",
                "kafka.topic=orders.public.bill",
            ),
            [(Kind.SERVICE, "silver")],
            id="another topic",
        ),
        pytest.param(
            write("spark/spark-defaults.conf", "spark.ui.enabled false\n"),
            [(Kind.SERVICE, "silver")],
            id="Spark's settings",
        ),
        pytest.param(
            write("spark/silver.py", "print()\n"), [(Kind.SERVICE, "silver")], id="the application"
        ),
        pytest.param(
            write("connectors/worker.properties", "a=b\n"),
            [(Kind.SERVICE, "connect")],
            id="Connect's settings",
        ),
        pytest.param(
            append(lambda project: project / "db" / "orders.sql", "SELECT 1;\n"),
            [(Kind.SCHEMA, "orders")],
            id="a schema",
        ),
        pytest.param(
            write("connectors/source_connector_other.json", '{"connector.class": "x"}'),
            [(Kind.NOTE, "no source or table of this lab uses it")],
            id="another's connector",
        ),
        pytest.param(
            append(lab_toml, '\n[services.kafka]\nheap = "300m"\n'), [(Kind.UP, "")], id="a size"
        ),
        pytest.param(
            put(lab_toml, "[services.silver]\n", '[services.silver]\nheap = "1100m"\n'),
            [(Kind.UP, ""), (Kind.SERVICE, "silver")],
            id="the application's size",
        ),
        pytest.param(
            put(lab_toml, "[services.silver]\nquick_start = true\n", ""),
            [(Kind.UP, ""), (Kind.SERVICE, "silver")],
            id="how the application is compiled",
        ),
        pytest.param(
            append(lab_toml, "\n# why\n"),
            [(Kind.NOTE, "it says what it said before")],
            id="a comment in lab.toml",
        ),
    ],
)
def test_a_change_asks_for_the_least(
    project: Path, change: Change, expected: list[tuple[Kind, str]]
) -> None:
    assert said(steps_of(project, change)) == expected


@pytest.mark.parametrize(
    ("writer", "kind", "what"),
    [
        ("spark", Kind.SERVICE, "silver"),
        ("connect", Kind.CONNECTOR, "sink_connector_kafka_s3_avro"),
    ],
)
def test_a_sinks_file_is_read_by_whoever_writes_bronze(
    project: Path, writer: WrittenBy, kind: Kind, what: str
) -> None:
    change = put(sink_of, "{", '{"errors.retry.timeout": "1",')
    assert said(steps_of(project, change, writer)) == [(kind, what)]


def test_a_restart_of_the_application_includes_its_tables(project: Path) -> None:
    def change(project: Path) -> None:
        append(base_of, HARD)(project)
        write("spark/spark-defaults.conf", "spark.ui.enabled false\n")(project)

    (step,) = steps_of(project, change)
    assert (step.kind, step.what) == (Kind.SERVICE, "silver")
    assert {path.name for path in step.files} == {"base.properties", "spark-defaults.conf"}


def test_up_includes_the_schema_and_comes_first(project: Path) -> None:
    def change(project: Path) -> None:
        append(lambda project: project / "db" / "orders.sql", "SELECT 1;\n")(project)
        append(lab_toml, '\n[services.kafka]\nheap = "300m"\n')(project)
        put(connector_of, "{", '{"max.batch.size": "50",')(project)

    assert said(steps_of(project, change)) == [(Kind.UP, ""), (Kind.CONNECTOR, ORDERS)]


@pytest.mark.parametrize(
    ("change", "command"),
    [
        (put(lab_toml, 'name = "shop"', 'name = "other"'), "labctl up --lab other"),
        (append(lab_toml, "\n[connectors]\nallow = ['a']\n"), "labctl connectors apply"),
        (append(lab_toml, "\n[profiles.more]\nruntime = 'compose'\n"), "labctl promote"),
    ],
)
def test_what_up_cannot_do_is_told_with_its_command(
    project: Path, change: Change, command: str
) -> None:
    (step,) = steps_of(project, change)
    assert step.kind is Kind.NOTE
    assert command in step.what


def test_what_a_migration_reads_is_watched(project: Path) -> None:
    edit(lab_toml(project), 'schema_file = "db/orders.sql"', 'migrate = "alembic upgrade head"')
    write("alembic.ini", "[alembic]\nscript_location = %(here)s/migrations\n")(project)
    write("migrations/versions/1.py", "")(project)
    change = write("migrations/versions/2.py", "")
    assert said(steps_of(project, change)) == [(Kind.SCHEMA, "orders")]


def test_an_editors_files_are_nobodys(project: Path) -> None:
    before = find_places(project, lab_of(project).config, lab_toml(project)).uses
    connectors, properties = project / "connectors", project / "spark" / "properties"
    (connectors / ".#source_connector_orders.json").symlink_to("nobody@nowhere")
    (connectors / ".source_connector_orders.json.swp").touch()
    (connectors / "source_connector_orders.json~").touch()
    (properties / "4913").touch()
    (properties / ".orders.public.customer.properties.new").touch()
    assert find_places(project, lab_of(project).config, lab_toml(project)).uses == before
    # Nor does the lab read them.
    assert len(lab_of(project).tables) == 2
    assert len(lab_of(project).sinks) == 1
