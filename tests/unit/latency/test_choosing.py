"""The tables that scenarios are run on are the lab's: TICKIT's, MoMA's, or a project's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import labctl.cli.init
import labctl.cli.latency  # noqa: F401 - registers its commands
from labctl.cli.app import root
from labctl.datasets import data_sets
from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.errors import ExitCode, LabError
from labctl.lab.lab import Lab
from labctl.latency.scenario import Scenario, find_scenario, scenario_files
from labctl.latency.target_selection import chosen_targets, on_tables, silver_rows, smallest_table
from labctl.latency.targets import Target, numbered_target
from labctl.sources import SourceColumn, SourceTable, TableRef
from labctl.sources.base import Declared
from labctl.tables import LabTable

PROJECT = Path(__file__).parents[3]
ONE = ("idle", "steady", "burst", "wide-transaction", "catch-up")

pytestmark = pytest.mark.usefixtures("state_home")


def tickit() -> Lab:
    return Lab.find(name="tickit", profile="native", project=PROJECT)


def moma() -> Lab:
    return Lab.find(name="moma", project=PROJECT)


def own(folder: Path, *sources: str) -> Lab:
    """A project that `labctl init` made."""
    options = [part for source in sources for part in ("--source", source)]
    done = CliRunner().invoke(root, ["init", str(folder / "shop"), *options])
    assert done.exit_code == ExitCode.OK, done.output
    return Lab.find(project=folder / "shop")


def with_hard_deletes(lab: Lab) -> Lab:
    """The lab with all of its tables set to `lab.deletes=hard`."""
    tables = [replace(t, properties=replace(t.properties, deletes="hard")) for t in lab.tables]
    vars(lab)["tables"] = tables
    return lab


def found(table: LabTable, *columns: tuple[str, str]) -> SourceTable:
    return SourceTable(
        TableRef(table.db_schema, table.source_name),
        tuple(SourceColumn(n, Declared(k, k), n != "id", POSTGRES[k]) for n, k in columns),
        ("id",),
    )


def numbers(_lab: Lab, table: LabTable) -> Target:
    """What a source says of a table with a whole number as its key, and a text."""
    return numbered_target(table, found(table, ("id", "integer"), ("note", "text")))


def no_numbers(_lab: Lab, table: LabTable) -> Target:
    return numbered_target(table, found(table, ("id", "text"), ("note", "text")))


def tables(lab: Lab, name: str) -> tuple[str, ...]:
    return on_tables(lab, find_scenario(lab.project, name)[1], ask=numbers).tables


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        *((name, ("sale",)) for name in ONE),
        ("mixed", ("event", "sale", "user")),
        ("snapshot", ("category", "venue", "event", "date", "listing", "sale", "user")),
    ],
)
def test_tickits_scenarios_are_those_that_its_figures_are_of(
    name: str, wanted: tuple[str, ...]
) -> None:
    assert tables(tickit(), name) == wanted


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        *((name, ("moma_mor.artworks",)) for name in (*ONE, "mixed")),
        ("snapshot", ("moma_mor.artists", "moma_mor.artworks")),
    ],
)
def test_momas_scenarios_follow_each_topic_into_one_of_the_twins(
    name: str, wanted: tuple[str, ...]
) -> None:
    lab = moma()
    assert tables(lab, name) == wanted
    assert {lab.table(one).name for one in wanted} == {*wanted}


@pytest.mark.parametrize("name", scenario_files(PROJECT))
def test_every_scenario_has_tables_in_a_project_of_ones_own(name: str, tmp_path: Path) -> None:
    assert tables(own(tmp_path, "orders=postgres"), name) == ("customer",)


def test_tables_of_one_name_are_told_apart_by_their_database(tmp_path: Path) -> None:
    lab = own(tmp_path, "orders=postgres", "tills=mysql")
    chosen = tables(lab, "mixed")
    assert {lab.table(name).source for name in chosen} == {"orders", "tills"}
    assert all(name.endswith(".customer") for name in chosen)


def test_what_a_scenario_names_is_what_it_is_run_on() -> None:
    named = find_scenario(PROJECT, "idle")[1].with_options(tables=("venue", "tickit.user"))
    assert on_tables(tickit(), named, ask=no_numbers) == named


def test_a_scenario_for_another_labs_tables_is_run_on_this_ones() -> None:
    named = find_scenario(PROJECT, "idle")[1].with_options(tables=("sale",))
    assert on_tables(moma(), named, ask=numbers).tables == ("moma_mor.artworks",)


def refused(lab: Lab, scenario: Scenario) -> LabError:
    with pytest.raises(LabError) as raised:
        on_tables(lab, scenario, ask=no_numbers)
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.hint
    return raised.value


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (("moma_mor.artists", "artist"), "no table 'artist'"),
        (("artists",), "more than one table 'artists'"),
        (("moma_cow.artists", "moma_mor.artists"), "take in one topic, moma.public.artists"),
    ],
)
def test_names_that_do_not_say_one_table_are_refused(named: tuple[str, ...], said: str) -> None:
    scenario = find_scenario(PROJECT, "idle")[1].with_options(tables=named)
    assert said in refused(moma(), scenario).what


def test_a_lab_without_a_table_that_can_be_used_is_told_why_of_each(tmp_path: Path) -> None:
    lab = own(tmp_path, "orders=postgres")
    said = refused(lab, find_scenario(PROJECT, "idle")[1])
    assert "'shop' has no table that" in said.what
    assert [line for line in said.details if "public.customer" in line] == [*said.details]
    assert "its key is not one integer column" in said.details[0]
    vars(lab)["tables"] = []
    assert "'shop' has no table to" in refused(lab, find_scenario(PROJECT, "idle")[1]).what


def test_deletes_go_only_where_they_can_be_followed() -> None:
    lab = with_hard_deletes(tickit())
    assert tables(lab, "idle") == ("sale",)
    said = refused(lab, find_scenario(PROJECT, "mixed")[1])
    assert len(said.details) == 7
    assert all("lab.deletes=hard" in line for line in said.details)


def test_a_source_that_does_not_answer_is_no_reason_to_take_another_table() -> None:
    def away(_lab: Lab, table: LabTable) -> Target:
        raise LabError(f"{table.source} does not answer", exit_code=ExitCode.NOT_READY)

    with pytest.raises(LabError, match="mysql does not answer"):
        chosen_targets(tickit(), "one", deletes=False, ask=away)


def test_a_sources_rows_count_once_for_each_silver_table() -> None:
    asked: list[str] = []

    def count(_lab: Lab, table: LabTable) -> int:
        asked.append(table.source_name)
        return {"artists": 15_089, "artworks": 120_000}[table.source_name]

    rows = silver_rows(moma(), count=count)
    assert rows == {
        "moma_cow.artists": 15_089,
        "moma_cow.artworks": 120_000,
        "moma_mor.artists": 15_089,
        "moma_mor.artworks": 120_000,
    }
    assert sum(rows.values()) == 2 * 135_089
    assert sorted(asked) == ["artists", "artworks"]
    assert smallest_table(rows) in ("moma_cow.artists", "moma_mor.artists")


def test_the_smallest_table_is_one_with_rows_where_there_is_one() -> None:
    assert smallest_table({"a": 0, "b": 11, "c": 200}) == "b"
    assert smallest_table({"a": 0}) == "a"


def test_data_sets_have_the_tables_that_they_say_scenarios_write_to() -> None:
    for one in data_sets():
        assert one.written, one.name
        assert {*one.written} <= {table.name for table in one.tables}


def test_a_table_of_the_command_line_must_be_in_the_lab(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(own(tmp_path, "orders=postgres").project)
    done = CliRunner().invoke(root, ["test", "latency", "run", "idle", "--table", "sale"])
    assert done.exit_code == ExitCode.USAGE
    assert "There is no table 'sale' in this lab" in done.output
