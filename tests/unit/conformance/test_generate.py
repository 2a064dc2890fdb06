"""The generator: what a seed says, and that every type and step has its turn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from labctl.conformance.case_sql import Script, table_name
from labctl.conformance.cases import Case, Cell, Change, Column, ValueClass
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
    traits = ENGINES[engine].conformance()
    expected = {"insert", "update", "rekey", "delete", "truncate", *traits.alterations}
    if traits.swap:
        expected |= {"swap", "apply"}
    if traits.recapture is not None:
        expected |= {"recapture"}
    if traits.partitioning is not None:
        expected |= {"partition", "attach", "detach", "drop_partition"}
    if traits.rename:
        expected |= {"away"}
    assert steps == expected
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


@pytest.mark.parametrize("engine", ENGINES)
def test_a_key_of_two_texts_has_values_that_joining_would_mix_up(engine: EngineName) -> None:
    case = next(case for case in (generate(engine, n) for n in MANY) if case.keys == ("k", "l"))
    rows = [row for _, row in case.rows]
    rows += [change.cells for change in case.history if change.what == "insert"]
    texts = [tuple(row[key].literal.strip("N'") for key in case.keys) for row in rows]
    joined = [f"k:{k},l:{text}" for k, text in texts]
    assert len(set(texts)) == len(texts)
    assert len(set(joined)) < len(joined)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_name_is_as_long_as_the_engine_allows(engine: EngineName) -> None:
    longest = ENGINES[engine].conformance().longest_column
    cases = [generate(engine, seed) for seed in range(600)]
    assert longest == max(len(column.name) for case in cases for column in case.columns)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_megabyte_is_rare(engine: EngineName) -> None:
    kinds = ENGINES[engine].conformance().column_types
    huge = {kind.huge for kind in kinds if kind.huge is not None}
    assert len(huge) == 2
    literals = [
        cell.literal
        for case in (generate(engine, seed) for seed in MANY)
        for row in (*(row for _, row in case.rows), *(change.cells for change in case.history))
        for cell in row.values()
    ]
    assert 1 <= sum(literal in huge for literal in literals) < len(literals) / 500


def table(engine: EngineName, history: tuple[Change, ...], *, parted: bool = False) -> Script:
    """Return the table `t` with a number as its key and one column."""
    number = next(
        kind
        for kind in ENGINES[engine].conformance().column_types
        if kind.declared in ("int", "integer")
    )
    key = Column("id", number, nullable=False)
    case = Case(engine, 1, "t", (key, Column("c", number)), ("id",), (), history, parted=parted)
    return Script(case, TableRef("s", "t"))


def row_of(number: int) -> Change:
    return Change("insert", number, {"id": Cell(ValueClass.EXTREME, str(number))})


def due(script: Script) -> str | None:
    """Return the step that is due."""
    return script.unseen


def test_columns_of_sql_server_are_captured_anew_and_rows_before_are_loaded_again() -> None:
    script = table("sqlserver", ())
    script.statements(Change("add", column=Column("new", script.case.columns[0].kind)))
    assert due(script) == "recapture"
    (statement,) = script.statements(Change("recapture"))
    assert statement.startswith("EXEC sys.sp_cdc_enable_table N's', N't', @capture_instance = N'")
    assert (due(script), script.needs_backfill) == (None, False)
    assert script.statements(Change("recapture")) == []
    script.statements(Change("drop", column=script.case.columns[1]))
    script.statements(row_of(1))
    assert script.needs_backfill


def test_a_copy_takes_the_place_of_a_table() -> None:
    script = table("postgres", (Change("swap"),))
    created, filled, away, back = script.statements(Change("swap"))
    assert created.endswith('(LIKE "s"."t" INCLUDING ALL)')
    assert filled.endswith('("id", "c") SELECT "id", "c" FROM "s"."t"')
    assert away.startswith('ALTER TABLE "s"."t" RENAME TO ')
    assert back.endswith(' RENAME TO "t"')
    assert due(script) == "apply"
    assert script.statements(Change("apply")) == []
    assert (due(script), script.needs_backfill) == (None, False)
    assert len([*script.drops()]) == 2
    script = table("mysql", (Change("swap"),))
    assert len(script.statements(Change("swap"))) == 3
    assert due(script) is None


@pytest.mark.parametrize("engine", ["postgres", "mysql"])
def test_a_row_is_written_while_its_table_has_another_name(engine: EngineName) -> None:
    script = table(engine, ())
    away, inserted, back = script.statements(replace(row_of(9), what="away"))
    other = inserted.split()[2].rpartition(".")[2]
    assert away.startswith("ALTER TABLE ")
    assert away.endswith(other)
    assert other in back.split()[2]
    assert script.needs_backfill


def test_a_table_has_partitions_that_come_and_go() -> None:
    script = table("postgres", (), parted=True)
    created, *parts = script.creates()
    assert created.endswith(') PARTITION BY RANGE ("id")')
    assert [part.partition(" FOR ")[2] for part in parts] == [
        "VALUES FROM (MINVALUE) TO (4)",
        "VALUES FROM (4) TO (8)",
        "VALUES FROM (8) TO (1000)",
    ]
    (added,) = script.statements(Change("partition"))
    assert added.endswith("FROM (1000) TO (2000)")
    detached, again = script.statements(Change("detach"))
    assert detached.split()[-1] == again.split()[5]
    assert not script.needs_backfill
    assert script.statements(Change("drop_partition")) == [f"DROP TABLE {added.split()[2]}"]
    like, inserted, attached = script.statements(replace(row_of(2001), what="attach"))
    assert inserted.split()[2] == like.split()[2] == attached.split()[5]
    assert script.needs_backfill
    assert table("postgres", ()).statements(Change("detach")) == []


def test_a_column_without_a_form_is_seen_once() -> None:
    script = table("postgres", ())
    assert script.seen_once([]) == []
    script.forms["c"] = None
    assert script.seen_once([]) == ["c"]
    assert script.seen_once(["c"]) == []
    script.forms["id"] = None
    assert script.seen_once([]) == ["id", "c"]


def test_a_case_without_types_has_no_column_that_is_added_with_one() -> None:
    script = table("postgres", ())
    kind = replace(script.case.columns[0].kind, declared="xml")
    case = script.case.with_history((Change("add", column=Column("new", kind)), row_of(1)))
    assert [change.what for change in case.without_types(["xml"]).history] == ["insert"]
    assert case.without_types(["money"]) == case


def test_a_column_that_is_dropped_or_renamed_is_known_by_its_names() -> None:
    """A value is put aside under the name that its column had then."""
    case = generate("postgres", 463)
    script = Script(case, TableRef("public", "t"))
    assert script.ever_called == {column.name for column in case.columns}
    dropped, column = (column for column in case.columns[-2:] if column.name not in case.keys)
    script.change(Change("drop", column=dropped))
    assert dropped.name in script.ever_called
    assert dropped.name not in script.names.values()
    kept = column.name
    script.change(Change("rename", column=column, text="later"))
    assert {kept, "later"} <= script.ever_called
