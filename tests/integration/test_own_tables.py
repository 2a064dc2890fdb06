"""A project's own tables, from their databases to silver: odd keys, wide decimals, wrong names."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.opening import connect_client
from labctl.lab.tables.row_trace import State, trace
from labctl.sources import ENGINES, Source, TableRef, connect
from labctl.tables import CONNECTORS, PROPERTIES
from tests.integration.own_project import OwnProject, own_project, own_source
from tests.waiting import wait_for

pytestmark = pytest.mark.long

PAIR = (
    "CREATE TABLE {schema}.pair (a varchar(50) NOT NULL, b varchar(50) NOT NULL, n integer,"
    " PRIMARY KEY (a, b))"
)
WIDE = "CREATE TABLE {schema}.wide (id integer PRIMARY KEY, n {type}, m {type} NOT NULL DEFAULT 0)"
PARENT = "CREATE TABLE {schema}.parent (id integer PRIMARY KEY, v text)"
CHILD = "CREATE TABLE {schema}.child (id integer PRIMARY KEY, p integer REFERENCES {schema}.parent)"
KINDS = {
    "plain": "id int PRIMARY KEY, v varchar(40) CHECK (v <> 'no'), d date DEFAULT '1000-01-01'",
    "stored": "id int PRIMARY KEY, v varchar(40), g varchar(40) AS (upper(v)) STORED",
    "virtual": "id int PRIMARY KEY, v varchar(40), g varchar(40) AS (upper(v)) VIRTUAL",
    "parts": "id int PRIMARY KEY, v varchar(40)) PARTITION BY RANGE (id)"
    " (PARTITION low VALUES LESS THAN (100), PARTITION high VALUES LESS THAN MAXVALUE",
}
"""MySQL's tables of several kinds."""
REFERRED = "CREATE TABLE {schema}.referred (id int PRIMARY KEY)"
REFERRING = (
    "CREATE TABLE {schema}.referring (id int PRIMARY KEY, p int, FOREIGN KEY (p)"
    " REFERENCES {schema}.referred (id) ON DELETE CASCADE ON UPDATE CASCADE)"
)
STATEMENTS = (
    "INSERT INTO {t} (id, v) VALUES (1, 'a'), (2, 'b'), (3, 'c')",
    "INSERT INTO {t} (id, v) VALUES (1, 'again')",
    "INSERT INTO {t} (id, v) VALUES (1, 'x') ON DUPLICATE KEY UPDATE v = 'up'",
    "REPLACE INTO {t} (id, v) VALUES (2, 'replaced')",
    "INSERT IGNORE INTO {t} (id, v) VALUES (3, 'ignored'), (4, 'd')",
    "INSERT INTO {t} (id, v) VALUES (5, 'no')",
    "UPDATE {t} SET v = 'x' WHERE id = 1",
    "UPDATE {t} SET id = 150 WHERE id = 2",
    "UPDATE {t} SET id = id + 1 ORDER BY id DESC",
    "UPDATE {t} a JOIN {t} b ON a.id = b.id SET a.v = concat(b.v, '2')",
    "INSERT INTO {t} (id, v) SELECT id + 1000, v FROM {t}",
    "UPDATE {t} SET v = v",
    "DELETE FROM {t} WHERE id = 151",
    "DELETE a FROM {t} a JOIN {t} b ON a.id = b.id WHERE a.id = 5",
    "DELETE FROM {t} WHERE id > 1000 ORDER BY id LIMIT 1",
    "TRUNCATE TABLE {t}",
    "INSERT INTO {t} (id, v) VALUES (9, 'last'), (10, 'least')",
)
ACTED_ON = (
    "INSERT INTO {schema}.referred VALUES (9), (10)",
    "INSERT INTO {schema}.referring VALUES (1, 9), (2, 10), (3, 9), (4, NULL)",
    "UPDATE {schema}.referred SET id = 11 WHERE id = 10",
    "DELETE FROM {schema}.referred WHERE id = 9",
)
FELT = (
    "CREATE TYPE mood AS ENUM ('sad', 'ok');\n"
    "CREATE TABLE {schema}.felt (id integer PRIMARY KEY, m mood)"
)
KEYS = {"felt": ["id"], "pair": ["a", "b"], "wide": ["id"], "parent": ["id"], "child": ["id"]}
KEYS |= {name: ["id"] for name in (*KINDS, "referred", "referring")}
WIDE_TYPES = {"postgres": ("numeric(50,10)", 50, 10), "mysql": ("decimal(65,30)", 65, 30)}


@pytest.fixture(scope="module")
def project() -> Iterator[OwnProject]:
    """A project with these tables, as far as an engine has them."""
    sources = []
    for engine in ENGINES:
        made = {"pair": PAIR, "referred": REFERRED, "referring": REFERRING}
        if engine in WIDE_TYPES:
            made["wide"] = WIDE.replace("{type}", WIDE_TYPES[engine][0])
        if engine == "postgres":
            made |= {"parent": PARENT, "child": CHILD, "felt": FELT}
        if engine == "mysql":
            made |= {n: f"CREATE TABLE {{schema}}.{n} ({kind})" for n, kind in KINDS.items()}
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


def test_statements_on_captured_tables_of_mysql_answer_as_on_others(project: OwnProject) -> None:
    schema = project.table("mysql", "plain").db_schema
    with connect(project.lab.endpoints, "of-mysql") as database:
        for name, columns in KINDS.items():
            twin = f"{schema}.not_captured_{name}"
            database.execute(f"CREATE TABLE {twin} ({columns})")
            expected = outcomes(database, twin)
            assert outcomes(database, f"{schema}.{name}") == expected, name
    project.verified(*(project.table("mysql", name).name for name in KINDS))


def test_a_load_from_the_beginning_has_every_row_and_ends_for_a_table_without_one(
    project: OwnProject,
) -> None:
    """Row security hides rows from a login that does not bypass it, in a load alone."""
    parent, child = (project.table("postgres", name) for name in ("parent", "child"))
    project.execute(
        "postgres",
        "INSERT INTO child VALUES (1, NULL)",
        "DELETE FROM child",
        "INSERT INTO parent VALUES (60, 'secret')",
        "ALTER TABLE parent ENABLE ROW LEVEL SECURITY",
    )
    connector = project.lab.config.sources[parent.source].connector
    project.run("connectors", "snapshot", connector, "--start-over")
    found = project.verified(parent.name, child.name)
    assert [found[table.name]["silver_rows"] for table in (parent, child)] == [1, 0]


def test_a_value_of_an_enum_that_is_renamed_is_loaded_again(project: OwnProject) -> None:
    felt = project.table("postgres", "felt").name
    project.execute("postgres", "INSERT INTO felt VALUES (1, 'sad'), (2, 'ok')")
    project.verified(felt)
    project.execute("postgres", "ALTER TYPE mood ADD VALUE 'happy'")
    project.execute(
        "postgres",
        "ALTER TYPE mood RENAME VALUE 'ok' TO 'fine'",
        "INSERT INTO felt VALUES (3, 'happy'), (4, 'fine')",
    )
    said = project.run("verify", felt, code=ExitCode.DIFFERENT)
    assert "id=2 m: source 'fine', silver 'ok'" in said
    assert f"labctl connectors backfill {felt}" in said
    project.run("connectors", "backfill", felt)
    project.verified(felt)


def test_a_prepared_transaction_of_mysql_that_is_rolled_back_leaves_its_rows(
    project: OwnProject,
) -> None:
    plain = project.table("mysql", "plain")
    project.execute(
        "mysql",
        "XA START 'kept'",
        f"INSERT INTO {plain.db_schema}.plain (id) VALUES (70)",
        "XA END 'kept'",
        "XA PREPARE 'kept'",
        "XA COMMIT 'kept'",
        "XA START 'lost'",
        f"INSERT INTO {plain.db_schema}.plain (id) VALUES (71)",
        "XA END 'lost'",
        "XA PREPARE 'lost'",
        "XA ROLLBACK 'lost'",
    )
    said = project.run("verify", plain.name, code=ExitCode.DIFFERENT)
    assert f"{plain.name}: extra id=71" in said
    connector = project.lab.config.sources[plain.source].connector
    assert f"labctl connectors snapshot {connector} --start-over" in said
    project.run("connectors", "snapshot", connector, "--start-over")
    project.verified(plain.name)


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_that_a_foreign_key_changes_arrive(engine: EngineName, project: OwnProject) -> None:
    """The lab's MySQL logs them; one before 9.6 does not."""
    referred, referring = (project.table(engine, name) for name in ("referred", "referring"))
    ref = TableRef(referring.db_schema, referring.source_name)
    project.execute(engine, *(one.format(schema=ref.schema) for one in ACTED_ON))
    found = project.verified(referred.name, referring.name)
    assert [found[table.name]["silver_rows"] for table in (referred, referring)] == [1, 2]
    with connect(project.lab.endpoints, f"of-{engine}") as database:
        assert ENGINES[engine].limits(database, ref, "").unlogged_rows is None


@pytest.mark.parametrize("engine", ["mysql", "sqlserver"])
def test_names_of_columns_that_differ_in_case_only_are_refused(
    engine: EngineName, project: OwnProject
) -> None:
    """PostgreSQL takes them, and Debezium fails: see the last test."""
    table = project.table(engine, "pair")
    with pytest.raises(LabError, match=r"(?i)column"):
        project.execute(engine, f"ALTER TABLE {table.db_schema}.pair ADD A int")


@pytest.mark.parametrize(
    ("words", "far", "shown_as"),
    [
        (("query",), "make_date(99999, 12, 31)", "99999-12-31"),
        (("query", "--engine", "spark"), "make_date(99999, 12, 31)", "99999-12-31"),
        (
            ("athena", "shell", "-c"),
            "date_add('day', 400, DATE '9999-12-31')",
            "+10001-02-03",
        ),
    ],
)
def test_columns_of_one_name_and_dates_that_python_has_not_are_shown(
    words: tuple[str, ...], far: str, shown_as: str, project: OwnProject
) -> None:
    table = project.table("mysql", "plain")
    project.execute("mysql", f"REPLACE INTO {table.db_schema}.plain (id) VALUES (7)")
    project.verified(table.name)
    sql = f"SELECT d AS a, id AS a, {far} AS far FROM {table.name} WHERE id = 7"
    _, row, _ = project.run(*words, sql).splitlines()
    assert row.split() == ["1000-01-01", "7", shown_as]


def outcomes(database: Source, table: str) -> list[object]:
    """Return what each statement answers, and what the table has then."""
    found: list[object] = []
    for statement in STATEMENTS:
        try:
            found.append(database.affect(statement.format(t=table)))
        except LabError as error:
            found.append(str(error).replace(table.rpartition(".")[2], "").splitlines()[0])
        found.append(database.execute(f"SELECT * FROM {table} ORDER BY id"))
    return found


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


def test_columns_that_stop_their_connector_are_named_and_no_row_is_lost(
    project: OwnProject,
) -> None:
    """The connector's other tables wait, and are not called in flight."""
    wide, pair = (project.table("postgres", name) for name in ("wide", "pair"))
    connector = project.lab.config.sources[wide.source].connector
    project.execute(
        "postgres",
        'ALTER TABLE wide ADD COLUMN "u p" integer, ADD COLUMN u_p integer',
        'INSERT INTO wide (id, "u p", u_p) VALUES (100, 1, 2)',
        "INSERT INTO pair VALUES ('waits', 'for it', 1)",
    )
    client = connect_client(project.lab.endpoints.connect)

    def has_failed() -> bool:
        return "FAILED" in [task["state"] for task in client.statuses()[connector]["tasks"]]

    wait_for(has_failed)
    named = "public.wide: its columns 'u p' and 'u_p': both become u_p; leave one out"
    assert named in project.run("status", code=ExitCode.NOT_READY)
    said = project.run("verify", pair.name, wide.name, code=ExitCode.DIFFERENT)
    assert named.removeprefix("public.wide: ") in said
    assert f"{pair.name}: connector {connector} is FAILED" in said
    assert "in flight" not in said
    project.execute("postgres", "CREATE TABLE later (id integer PRIMARY KEY)")
    said = project.run("table", "add", "of-postgres.public.later", code=ExitCode.USAGE)
    assert named in said

    file = project.folder / CONNECTORS / f"{connector}.json"
    config = json.loads(file.read_text()) | {"column.exclude.list": r"(?-i)public\.wide\.u_p"}
    file.write_text(json.dumps(config, indent=2))
    project.run("connectors", "apply", connector)
    project.verified(pair.name, wide.name)

    # Debezium fails for these two, also if one is left out.
    project.execute(
        "postgres",
        'ALTER TABLE wide ADD COLUMN "N" integer',
        "INSERT INTO wide (id) VALUES (101)",
    )
    wait_for(has_failed)
    assert "public.wide: its column 'N'" in project.run("status", code=ExitCode.NOT_READY)
    project.execute(
        "postgres", 'ALTER TABLE wide RENAME COLUMN "N" TO o', "DELETE FROM pair WHERE a = 'waits'"
    )
    project.run("connectors", "snapshot", connector, "--start-over")
    project.verified(pair.name, wide.name)
    project.run("status")
