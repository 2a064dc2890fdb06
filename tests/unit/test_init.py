"""`labctl init` makes a project whose files are all good for a lab, and overwrites nothing."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

import labctl.cli.init  # noqa: F401 - registers its command
from labctl.cli.app import root
from labctl.config.lab_config import LabConfig
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.apply import check_keys
from labctl.kafkaconnect.conflicts import check_apart
from labctl.kafkaconnect.connector_files import connector_files
from labctl.lab.connectors.reference_keys import offered_keys
from labctl.scaffolding import new_connectors as scaffolding
from labctl.scaffolding.examples import example_source
from labctl.scaffolding.existing import parse_dsn
from labctl.scaffolding.new_connectors import sink_template, source_text
from labctl.scaffolding.project import lab_name, new_project, write_project
from labctl.scaffolding.properties import free_table_name
from labctl.sinks import check_sinks
from labctl.sources import ENGINES
from labctl.sources.scripts import read_script
from labctl.tables import lab_tables
from lakecontract.references import REFERENCE
from tests.unit.killing import kill_at_every_change

CONNECTORS = Path(__file__).parents[2] / "connectors"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def init(*arguments: str, code: ExitCode = ExitCode.OK, typed: str | None = None) -> str:
    done = CliRunner().invoke(root, ["init", *arguments], input=typed)
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize(
    ("arguments", "topics"),
    [
        (["--source", "orders=postgres"], ["orders.public.customer"]),
        (["--source", "my-orders=mysql"], ["my-orders.my_orders.customer"]),
        (["--source", "crm=mssql"], ["crm.dbo.customer"]),
        (
            ["--source", "a=postgres", "--source", "b=postgres", "--source", "c=mysql"],
            ["a.public.customer", "b.public.customer", "c.c.customer"],
        ),
        (
            ["--dataset", "moma", "--source", "a=postgres"],
            ["a.public.customer", *["moma.public.artists", "moma.public.artworks"] * 2],
        ),
    ],
)
def test_a_new_project_is_one_that_a_lab_can_run(
    here: Path, arguments: list[str], topics: list[str]
) -> None:
    init("shop", *arguments)
    folder = here / "shop"
    config = LabConfig.load(folder / "lab.toml")
    assert config.name == "shop"
    tables = lab_tables(folder, config)
    assert sorted(table.topic for table in tables) == sorted(topics)
    assert len({table.name for table in tables}) == len(tables)
    check_sinks(folder, tables, written_by_spark=True)
    files = connector_files(folder / "connectors")
    check_keys(files)
    check_apart([file for file in files if file.is_source])
    offered = offered_keys(config)
    for file in files:
        for value in file.config.values():
            for secret, key in REFERENCE.findall(value):
                assert key in offered[secret]
    for source in config.sources.values():
        if source.schema_file is not None:
            assert read_script(folder / source.schema_file, source.engine)
    compile((folder / "tests" / "test_lab.py").read_text(), "test_lab.py", "exec")


def test_numbers_are_not_booleans_in_a_new_project(here: Path) -> None:
    """TICKIT's connector makes booleans of its `tinyint(1)`; another table may have 2 in one."""
    (tickit,) = (Path(__file__).parents[2] / "connectors").glob("source_*mysql*.json")
    assert "TinyIntOneToBooleanConverter" in tickit.read_text()
    init("shop", "--source", "crm=mysql")
    (own,) = (here / "shop" / "connectors").glob("source_*.json")
    assert "TinyInt" not in own.read_text()
    assert "boolean" not in own.read_text()


def test_two_sources_with_a_table_of_one_name(here: Path) -> None:
    """What the project's test and its first query name is one table."""
    said = init("shop", "--source", "a=mysql", "--source", "b=postgres")
    names = [t.name for t in lab_tables(here / "shop", LabConfig.load(here / "shop/lab.toml"))]
    assert sorted(names) == ["b.customer", "shop.customer"]
    text = (here / "shop/tests/test_lab.py").read_text()
    assert text.count('"shop.customer"') == 2
    assert 'source("a")' in text
    assert "customer" in said


def test_a_data_sets_lab_is_the_one_that_labctl_comes_with(here: Path) -> None:
    said = init("box", "--dataset", "tickit")
    assert said.splitlines()[-4:] == ["  cd box", "  labctl up", "  labctl seed", "  pytest"]
    config = LabConfig.load(here / "box" / "lab.toml")
    assert config.data_sets == ("tickit",)
    assert len(lab_tables(here / "box", config)) == 7
    assert not (here / "box" / "spark" / "properties" / "moma").exists()


def test_it_ends_with_what_to_type(here: Path) -> None:
    said = init("--source", "orders=postgres", "--name", "shop")
    assert said.splitlines()[-3:] == [
        "  labctl up",
        "  pytest",
        "  labctl query 'SELECT * FROM customer'",
    ]
    assert (here / "pytest.ini").read_text().endswith("addopts = --lab shop\n")


def test_nothing_that_is_there_is_touched(here: Path) -> None:
    (here / "Makefile").write_text("mine:\n")
    said = init("--source", "orders=postgres", "--name", "shop")
    assert "Makefile was there, and is left as it is" in said
    assert (here / "Makefile").read_text() == "mine:\n"
    before = {p: p.read_bytes() for p in here.rglob("*") if p.is_file()}
    assert "is a project already" in init("--source", "b=mysql", code=ExitCode.USAGE)
    assert {p: p.read_bytes() for p in here.rglob("*") if p.is_file()} == before


def test_without_a_terminal_it_says_what_is_missing(here: Path) -> None:
    assert "--source orders=ENGINE" in init("shop", code=ExitCode.USAGE)
    assert not (here / "shop").exists()


def test_in_a_terminal_it_asks(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("labctl.cli.init._at_terminal", lambda: True)
    init("shop", typed="mysql\ntills\n")
    content = tomllib.loads((here / "shop" / "lab.toml").read_text())
    assert content["sources"]["tills"]["engine"] == "mysql"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--source", "orders"],
        ["--source", "orders=oracle"],
        ["--source", "kafka=postgres"],
        ["--source", "a=mysql", "--source", "a=postgres"],
        ["--dataset", "none"],
        ["--source", "a=mysql", "--copy-rows", "3"],
        ["--from-database", "postgresql://nobody@127.0.0.1:1/none"],
        ["--from-database", "kafka=postgresql://nobody@127.0.0.1:1/none"],
    ],
)
def test_a_wrong_wish_writes_nothing(here: Path, arguments: list[str]) -> None:
    init("shop", *arguments, code=ExitCode.USAGE)
    assert not (here / "shop").exists()


def test_a_dsn_names_engine_server_user_and_database() -> None:
    engine, found = parse_dsn("postgresql://me:p%40ss@db.example:6543/shop")
    assert (engine, found.host, found.port, found.user) == ("postgres", "db.example", 6543, "me")
    assert (found.password.get_secret_value(), found.database) == ("p@ss", "shop")
    assert parse_dsn("mssql://sa:x@db/crm")[1].port == 1433
    for wrong in (
        "oracle://u:secret@h/d",
        "mysql://u:secret@h",
        "mysql://h/d",
        "x",
        "mysql://h:x/",
    ):
        with pytest.raises(LabError) as caught:
            parse_dsn(wrong)
        assert "secret" not in f"{caught.value}"


@pytest.mark.parametrize("address", ["mysql//u:secret@h/d?x=1", "u:secret=x", "/secret=1"])
def test_what_may_hold_a_password_is_not_shown(here: Path, address: str) -> None:
    assert "secret" not in init("shop", "--from-database", address, code=ExitCode.USAGE)


def test_names_of_labs_and_silver_tables() -> None:
    assert lab_name("My Shop 2") == "my-shop-2"
    with pytest.raises(LabError):
        lab_name("2024")
    place = ("shop", "orders", "public", "Customer-List")
    assert free_table_name(*place, set()) == (None, "customer_list")
    taken = {"shop.customer_list"}
    assert free_table_name(*place, taken) == ("orders", "customer_list")
    taken.add("orders.customer_list")
    assert free_table_name(*place, taken) == ("orders", "public_customer_list")


def test_the_result_can_be_read_by_a_program(here: Path) -> None:
    del here
    said = json.loads(init("shop", "--source", "orders=postgres", "--output", "json"))
    assert "connectors/source_connector_orders.json" in said["written"]
    assert said["next"] == ["cd shop", "labctl up", "pytest"]


@pytest.mark.parametrize("place", ["a", "z"])
def test_further_connector_files_of_labctls_change_no_project(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    before = [source_text("shop", engine, ["own"]) for engine in ENGINES], sink_template().name
    copied = shutil.copytree(CONNECTORS, tmp_path / "connectors")
    for kind in ("source", "sink"):
        (moma,) = copied.glob(f"{kind}_connector_moma_*.json")
        shutil.copy(moma, copied / f"{kind}_connector_{place}.json")
    monkeypatch.setattr(scaffolding, "shipped", lambda _folder: copied)
    after = [source_text("shop", engine, ["own"]) for engine in ENGINES], sink_template().name
    assert after == before


def test_killed_at_any_file_a_project_is_whole_or_not_begun(
    state_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    folder = state_home / "shop"
    project = new_project("shop", [example_source("orders", "postgres")])

    def prepare() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "Makefile").write_text("mine", encoding="utf-8")

    def contents() -> dict[str, str]:
        files = (path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_text() for path in files}

    whole = {**project.files, "Makefile": "mine"}
    completed = 0
    for _ in kill_at_every_change(state_home, prepare, lambda _: write_project(folder, project)):
        try:
            written = write_project(folder, project)
        except LabError as error:
            assert "is a project already" in error.what
            completed += "what an interrupted command began was written" in (error.hint or "")
        else:
            assert written.kept == ("Makefile",)
        assert contents() == whole
    assert completed
