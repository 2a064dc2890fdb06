"""The generator: what a seed says, and that every type and step has its turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labctl.conformance.case_sql import Script, table_name
from labctl.conformance.cases import Change, ValueClass
from labctl.conformance.generation import WIDTH, generate
from labctl.engine_names import EngineName
from labctl.sources import ENGINES, TableRef

MANY = range(300)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_seed_gives_the_same_table_each_time(engine: EngineName) -> None:
    assert [generate(engine, seed) for seed in range(20)] == [
        generate(engine, seed) for seed in range(20)
    ]
    assert generate(engine, 1) != generate(engine, 2)


@pytest.mark.parametrize("engine", ENGINES)
def test_each_type_has_its_turn_within_one_round_of_seeds(engine: EngineName) -> None:
    round_of_seeds = range(-(-len(ENGINES[engine].conformance().column_types) // WIDTH))
    there = {c.kind.declared for seed in round_of_seeds for c in generate(engine, seed).columns}
    assert there >= {kind.declared for kind in ENGINES[engine].conformance().column_types}


@pytest.mark.parametrize("engine", ENGINES)
def test_no_two_columns_or_rows_of_a_table_are_the_same(engine: EngineName) -> None:
    for seed in MANY:
        case = generate(engine, seed)
        names = [
            column.name.lower() if engine != "postgres" else column.name for column in case.columns
        ]
        assert len(set(names)) == len(names), case.label
        keys = [tuple(row[key].literal for key in case.keys) for _, row in case.rows if case.keys]
        assert len(set(keys)) == len(keys), case.label


@pytest.mark.parametrize("engine", ENGINES)
def test_every_class_of_values_and_every_step_occurs(engine: EngineName) -> None:
    cases = [generate(engine, seed) for seed in MANY]
    classes = {cell.kind for case in cases for _, row in case.rows for cell in row.values()}
    assert classes == set(ValueClass)
    steps = {change.what for case in cases for change in case.history}
    changes = {"insert", "update", "rekey", "delete", "truncate"}
    ddl = {"add", "drop", "rename", "retype", "default"}
    assert steps == (changes if engine == "sqlserver" else changes | ddl)
    assert any(not case.keys for case in cases)
    assert any(case.name != "{0}" for case in cases)
    assert any(len(case.keys) > 1 for case in cases)


def test_faults_are_only_where_they_are_asked_for() -> None:
    assert all(c.what != "fault" for c in generate("postgres", 3).history)
    assert any(c.what == "fault" for c in generate("postgres", 3, faults=True).history)


@pytest.mark.parametrize("engine", ENGINES)
def test_names_fit_the_engine_and_keep_what_tells_them_apart(engine: EngineName) -> None:
    for seed in MANY:
        name = table_name(generate(engine, seed), "t7")
        size = len(name.encode()) if engine == "postgres" else len(name)
        assert size <= ENGINES[engine].conformance().longest_name
        assert "t7" in name


def test_a_smaller_case_has_nothing_of_the_columns_it_lacks() -> None:
    case = generate("postgres", 7)
    others = [column.name for column in case.columns if column.name not in case.keys]
    smaller = case.with_columns(others[:1])
    assert {column.name for column in smaller.columns} == {*case.keys, others[0]}
    kept = {*case.keys, others[0]}
    assert all(set(row) <= kept for _, row in smaller.rows)
    assert all(set(change.cells) <= kept for change in smaller.history if change.what != "insert")


def test_a_history_follows_a_row_whose_key_changes_and_a_column_that_is_renamed() -> None:
    case = next(
        case
        for case in (generate("postgres", seed) for seed in MANY)
        if case.keys == ("id",) and len(case.columns) > 1
    )
    script = Script(case, TableRef("public", "t"))
    list(script.load())
    column = case.columns[1]
    row, cells = case.rows[0]
    moved = Change("rekey", row, {"id": cells["id"].__class__(ValueClass.EXTREME, "99")})
    assert (script.change(moved) or "").endswith(f'SET "id" = 99 WHERE "id" = {row}')
    renamed = script.change(Change("rename", column=column, text="other"))
    assert (renamed or "").endswith('TO "other"')
    update = script.change(Change("update", row, {column.name: cells[column.name]}))
    assert 'SET "other" = ' in (update or "")
    assert (update or "").endswith('WHERE "id" = 99')
    assert script.change(Change("delete", row)) == 'DELETE FROM "public"."t" WHERE "id" = 99'
    assert script.change(Change("delete", row)) is None


def test_a_row_is_written_after_the_last_change_of_a_table() -> None:
    last = {"add", "drop", "rename", "retype", "default"}
    for seed in range(600):
        case = generate("postgres", seed)
        if "id" in case.keys:
            assert case.history[-1].what not in last, case.label


def test_what_no_row_says_is_to_be_loaded_again() -> None:
    case = generate("mysql", 1)
    column = next(c for c in case.columns if c.name not in case.keys)
    for change, needed in (
        (Change("rename", column=column, text="other"), True),
        (Change("retype", column=column, text="text"), True),
        (Change("drop", column=column), False),
        (Change("default", column=column, text="1"), False),
        (Change("add", column=replace(column, name="new", default=False)), False),
        (Change("add", column=replace(column, name="new", default=True)), True),
    ):
        script = Script(case, TableRef("conformance", "t"))
        assert script.change(change)
        assert script.needs_backfill is needed, change


def test_a_column_that_is_dropped_or_renamed_is_known_by_its_names() -> None:
    """A value is put aside under the name that its column had then."""
    case = generate("postgres", 463)
    script = Script(case, TableRef("public", "t"))
    assert script.ever_called == {column.name for column in case.columns}
    for change in case.history:
        script.change(change)
    assert "eq=ual" in script.ever_called
    assert "eq=ual" not in script.names.values()
    kept = next(name for name in script.names if name not in case.keys)
    column = next(column for column in case.columns if column.name == kept)
    script.change(Change("rename", column=column, text="later"))
    assert {kept, "later"} <= script.ever_called
