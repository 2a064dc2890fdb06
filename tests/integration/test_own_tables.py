"""A project's own tables, from their databases to silver: odd keys, wide decimals, wrong names."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from labctl.engine_names import EngineName
from labctl.errors import ExitCode
from labctl.lab.tables.row_trace import State, trace
from labctl.tables import PROPERTIES
from tests.integration.own_project import OwnProject, own_project, own_source

pytestmark = pytest.mark.long

PAIR = (
    "CREATE TABLE {schema}.pair (a varchar(50) NOT NULL, b varchar(50) NOT NULL, n integer,"
    " PRIMARY KEY (a, b))"
)
WIDE = "CREATE TABLE {schema}.wide (id integer PRIMARY KEY, n {type}, m {type} NOT NULL DEFAULT 0)"
PARENT = "CREATE TABLE {schema}.parent (id integer PRIMARY KEY, v text)"
CHILD = "CREATE TABLE {schema}.child (id integer PRIMARY KEY, p integer REFERENCES {schema}.parent)"
KEYS = {"pair": ["a", "b"], "wide": ["id"], "parent": ["id"], "child": ["id"]}
WIDE_TYPES = {"postgres": ("numeric(50,10)", 50, 10), "mysql": ("decimal(65,30)", 65, 30)}
ENGINES: tuple[EngineName, ...] = ("postgres", "mysql", "sqlserver")


@pytest.fixture(scope="module")
def project() -> Iterator[OwnProject]:
    """A project with these tables, as far as an engine has them."""
    sources = []
    for engine in ENGINES:
        made = {"pair": PAIR}
        if engine in WIDE_TYPES:
            made["wide"] = WIDE.replace("{type}", WIDE_TYPES[engine][0])
        if engine == "postgres":
            made |= {"parent": PARENT, "child": CHILD}
        sources.append(own_source(engine, [*made.values()], {name: KEYS[name] for name in made}))
    with own_project(*sources) as project:
        yield project


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_whose_keys_look_alike_are_kept_apart_and_found(
    engine: EngineName, project: OwnProject
) -> None:
    """Joined without an escape, the first two keys would be the same."""
    pair = project.table(engine, "pair")
    name = f"{pair.db_schema}.pair"
    keys = [("x,b:y", "z"), ("x", "y,b:z"), ("__empty__", "q"), ("__null__", "q"), ("", "q")]
    keys.append(("q", ""))
    rows = ", ".join(f"('{a}', '{b}', {number})" for number, (a, b) in enumerate(keys))
    project.execute(engine, f"INSERT INTO {name} VALUES {rows}")
    assert project.verified(pair.name)[pair.name]["source_rows"] == len(keys)
    project.execute(
        engine,
        f"UPDATE {name} SET n = 22 WHERE a = 'x' AND b = 'y,b:z'",
        f"DELETE FROM {name} WHERE a = 'x,b:y'",
        f"DELETE FROM {name} WHERE a = ''",
    )
    assert project.verified(pair.name)[pair.name]["source_rows"] == len(keys) - 2
    for number, (a, b) in enumerate(keys):
        found = trace(project.lab, pair, {"a": a, "b": b})
        assert found.stopped is None, found
        states = {station.state for station in found.stations if station.name != "bronze"}
        if a in ("x,b:y", ""):
            assert states == {State.MISSING, State.DELETED}
        else:
            assert states == {State.CURRENT}
            silver = found.stations[-1].row or {}
            assert (silver["a"], silver["b"]) == (a, b)
            assert silver["n"] == (22 if a == "x" else number)
    assert trace(project.lab, pair, {"a": "z", "b": "x,b:y"}).nowhere
    said = project.run("trace", pair.name, "--where", "a=x", "--where", "b=y,b:z")
    assert "The row arrived." in said


@pytest.mark.parametrize("engine", WIDE_TYPES)
def test_decimals_wider_than_hudis_are_equal(engine: EngineName, project: OwnProject) -> None:
    """They are text in silver, and the user is told before."""
    wide = project.table(engine, "wide")
    _, precision, scale = WIDE_TYPES[engine]
    largest = f"{'9' * (precision - scale)}.{'9' * scale}"
    name = f"{wide.db_schema}.wide"
    said = project.run("table", "check", f"{wide.source}.{name}")
    assert said.count("every digit kept, as text") == 2
    project.execute(
        engine,
        f"INSERT INTO {name} VALUES (1, {largest}, -{largest}), (2, NULL, 0), (3, -0.5, 1)",
        f"INSERT INTO {name} (id) VALUES (4)",
        f"UPDATE {name} SET n = -{largest}, m = 0.5 WHERE id = 2",
    )
    project.verified(wide.name)
    row = trace(project.lab, wide, {"id": 1}).stations[-1].row or {}
    assert (row["n"], row["m"]) == (largest, f"-{largest}")


def test_a_cascading_truncate_empties_each_table(project: OwnProject) -> None:
    parent, child = (project.table("postgres", name).name for name in ("parent", "child"))
    project.execute(
        "postgres",
        "INSERT INTO parent SELECT n, 'old' FROM generate_series(1, 50) n",
        "INSERT INTO child SELECT n, 1 + n % 50 FROM generate_series(1, 200) n",
    )
    found = project.verified(parent, child)
    assert [found[name]["source_rows"] for name in (parent, child)] == [50, 200]
    project.execute(
        "postgres",
        "BEGIN; INSERT INTO parent VALUES (51); TRUNCATE parent CASCADE;"
        " INSERT INTO parent VALUES (52); INSERT INTO child VALUES (7, 52); COMMIT",
    )
    found = project.verified(parent, child)
    assert [found[name]["silver_rows"] for name in (parent, child)] == [1, 1]
    project.execute("postgres", "TRUNCATE parent CASCADE")
    found = project.verified(parent, child)
    assert [found[name]["silver_rows"] for name in (parent, child)] == [0, 0]


@pytest.mark.parametrize(
    "words",
    [
        ("deadletters", "list", "{}"),
        ("deadletters", "list", "of_mysql.pair", "{}"),
        ("deadletters", "show", "{}", "0:1"),
        ("trace", "{}", "--where", "id=1"),
    ],
)
def test_a_table_that_the_lab_lacks_is_an_error(
    words: tuple[str, ...], project: OwnProject
) -> None:
    said = project.run(*(word.format("of_mysql.pairs") for word in words), code=ExitCode.USAGE)
    assert "There is no table 'of_mysql.pairs'" in said
    assert "did you mean of_mysql.pair?" in said
    assert "no dead letters" not in said


def test_another_merge_mode_for_a_table_is_refused(project: OwnProject) -> None:
    """The table goes on, also after a restart, and the hint names what to put back."""
    pair = project.table("mysql", "pair")
    file = project.folder / PROPERTIES / f"{pair.topic}.properties"
    before, key = file.read_text(), "hoodie.write.record.merge.mode"
    insert = f"INSERT INTO {pair.db_schema}.pair VALUES"
    project.execute("mysql", f"{insert} ('mode', '1', 1)")
    project.verified(pair.name)
    try:
        file.write_text(f"{before}{key}=COMMIT_TIME_ORDERING\n")
        said = project.run("up", code=ExitCode.USAGE)
        assert f"{key}=COMMIT_TIME_ORDERING: a table cannot be changed in this way" in said
        assert f"Put {key}=EVENT_TIME_ORDERING back" in said
        project.execute("mysql", f"{insert} ('mode', '2', 2)")
        project.verified(pair.name)
        # A mode for which Hudi lacks a class would leave the table empty once it is rebuilt.
        file.write_text(f"{before}{key}=CUSTOM\n")
        for command in (["up"], ["rebuild", pair.name]):
            said = project.run(*command, code=ExitCode.USAGE)
            assert f"{file.name}:{len(before.splitlines()) + 1}: {key}: CUSTOM is none of" in said
    finally:
        file.write_text(before)
    project.run("up")
    project.execute("mysql", f"{insert} ('mode', '3', 3)")
    project.verified(pair.name)
