"""What becomes of columns is known beforehand: by their names, their types and the connector."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labctl.engine_names import EngineName
from labctl.kafkaconnect.arrival_forecast import Finding, silver_column, table_findings
from labctl.kafkaconnect.column_filters import excluding, is_taken, pattern_of
from labctl.scaffolding.new_connectors import source_text
from labctl.sources import ENGINES, SourceTable, TableRef
from labctl.sources.base import Declared

REF = TableRef("public", "thing")
TEXT = {"postgres": "text", "mysql": "text", "sqlserver": "nvarchar"}
NAMES = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_categories=("Cc", "Zl", "Zp")),
    min_size=1,
    max_size=12,
)


def config_of(engine: EngineName = "postgres") -> dict[str, str]:
    config: dict[str, str] = json.loads(source_text("shop", engine, ["public"]))
    return config


def table_of(
    *names: str, engine: EngineName = "postgres", keys: tuple[str, ...] = ("id",)
) -> SourceTable:
    kind = TEXT[engine]
    columns = [(name, Declared(kind, kind), True) for name in ("id", *names)]
    return SourceTable.of(REF, ENGINES[engine].types(), columns, keys)


def refused(
    table: SourceTable,
    config: dict[str, str] | None = None,
    engine: EngineName = "postgres",
    beside: tuple[TableRef, ...] = (),
) -> list[Finding]:
    found = table_findings(table, engine, config or config_of(engine), beside)
    return [finding for finding in found if finding.verdict == "refused"]


@pytest.mark.parametrize("engine", list(ENGINES))
@pytest.mark.parametrize(
    ("names", "stops"),
    [
        (("Name", "name"), False),
        (("unit price", "unit_price"), True),
        (("a.b", "a-b"), True),
        (("1st", "_1st"), True),
        (("gr+-e", "gr__e"), True),
        (("Unit price", "unit_price"), False),
    ],
)
def test_two_columns_that_become_one(
    engine: EngineName, names: tuple[str, str], stops: bool
) -> None:
    (finding,) = refused(table_of(*names, engine=engine), engine=engine)
    assert all(repr(name) in finding.why for name in names)
    if engine == "postgres" and names == ("Name", "name"):
        assert finding.stops_connector
        assert f"ALTER TABLE {REF} RENAME COLUMN" in finding.change
        config = config_of(engine) | {"column.exclude.list": excluding(REF, "Name")}
        assert refused(table_of(*names, engine=engine), config, engine) == [finding]
        return
    assert finding.stops_connector is stops
    # What it advises is what helps.
    config = config_of(engine) | {"column.exclude.list": json.loads(_advised(finding.change))}
    assert refused(table_of(*names, engine=engine), config, engine) == []


def _advised(change: str) -> str:
    found = re.search(r'"column\.exclude\.list": (".*")', change)
    assert found is not None
    return found[1]


@pytest.mark.parametrize(
    ("name", "stops"),
    [
        ("__deleted", True),
        ("__op", True),
        ("__lsn", True),
        ("__kafka_offset", False),
        ("__Deleted", False),
        ("_hoodie_record_key", False),
        ("_Hoodie_x", False),
    ],
)
def test_a_name_that_is_not_the_sources_to_have(name: str, stops: bool) -> None:
    (finding,) = refused(table_of(name))
    assert (finding.column, finding.stops_connector) == (name, stops)
    config = config_of() | {"column.exclude.list": json.loads(_advised(finding.change))}
    assert refused(table_of(name), config) == []


def test_an_added_field_may_have_another_prefix_and_name() -> None:
    config = config_of() | {
        "transforms.unwrap.add.fields.prefix": "cdc ",
        "transforms.unwrap.add.fields": "op:what,source.ts_ms",
    }
    found = [(f.column, f.stops_connector) for f in refused(table_of("cdc_what", "x"), config)]
    assert found == [("cdc_what", True)]
    assert refused(table_of("cdc_source_ts_ms"), config)[0].stops_connector
    assert refused(table_of("cdc_op"), config) == []


@given(st.lists(NAMES, min_size=1, max_size=6, unique=True))
def test_names_that_pass_are_silvers_and_no_two_are_alike(names: list[str]) -> None:
    names = [name for name in names if name != "id"]
    found = table_findings(table_of(*names), "postgres", config_of())
    assert {finding.column for finding in found} == {"id", *names}
    passed = [silver_column(f.column) for f in found if f.verdict != "refused"]
    assert len({name.lower() for name in passed}) == len(passed)
    for name in passed:
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
        assert not name.lower().startswith(("__", "_hoodie_"))


@pytest.mark.parametrize("config", [{}, {"column.exclude.list": r"public\\.t\\.café"}])
def test_a_name_that_postgres_log_brings_as_another_is_refused(config: dict[str, str]) -> None:
    (found,) = refused(table_of("café", "plain"), config_of() | config)
    assert found.column == "café"
    assert "rename it at the source" in found.change
    for engine in ("mysql", "sqlserver"):
        assert refused(table_of("café", engine=engine), engine=engine) == []


def test_a_character_that_java_counts_as_two_is_two_underscores() -> None:
    assert silver_column("emoji 😀3") == "emoji___3"
    assert silver_column("☺") == "_"


@given(NAMES, NAMES)
def test_what_leaves_a_column_out_leaves_that_one_out(one: str, other: str) -> None:
    config = {"column.exclude.list": json.loads(f'"{excluding(REF, one)}"')}
    assert not is_taken(config, REF, one)
    same = len(one) == len(other) and all(a in ("," + other[i]) for i, a in enumerate(one))
    if not (same or any(c == "," or c > "~" for c in one)):
        assert is_taken(config, REF, other) or one == other
    assert is_taken({"column.include.list": config["column.exclude.list"]}, REF, one)


def test_two_tables_of_one_topic() -> None:
    odd, plain = TableRef("public", "order lines"), TableRef("public", "order_lines")
    for ref, other in ((odd, plain), (plain, odd)):
        found = table_findings(SourceTable(ref, (), ("id",)), "postgres", {}, (odd, plain))
        assert found[-1].stops_connector
        assert str(other) in found[-1].why
        assert pattern_of(other) in found[-1].change
    # Kafka keeps no topic whose name is another's but for these two marks.
    dotted = TableRef("public", "order.lines")
    assert refused(SourceTable(plain, (), ("id",)), beside=(dotted,))
    assert "another one in its topic" in refused(SourceTable(odd, (), ("id",)))[0].why
    assert not refused(SourceTable(plain, (), ("id",)), beside=(TableRef("public", "Order_lines"),))


def test_a_key_that_does_not_come_along() -> None:
    config = config_of() | {"column.exclude.list": "public.thing.id"}
    (finding,) = refused(table_of("a"), config)
    assert (finding.column, "'id'" in finding.why) == ("id", True)
    columns = [("id", Declared("int4multirange", "int4multirange"), False)]
    table = SourceTable.of(REF, ENGINES["postgres"].types(), columns, ("id",))
    assert "int4multirange" in refused(table)[0].why


def test_a_type_of_an_extension_is_known_in_whichever_schema_it_is() -> None:
    kind = Declared("USER-DEFINED", "extensions.citext")
    table = SourceTable.of(REF, ENGINES["postgres"].types(), [("id", kind, False)], ("id",))
    assert [one.verdict for one in table_findings(table, "postgres", config_of())] == ["as text"]


def test_a_decimal_is_text_where_silver_has_no_decimal_for_it() -> None:
    kinds = {38: "exact", 39: "as text", 65: "as text", None: "as text"}
    columns = [
        (f"c{digits}", Declared("numeric", "numeric", digits, digits and 2), True)
        for digits in kinds
    ]
    columns.append(("m", Declared("money", "money"), True))
    table = SourceTable.of(REF, ENGINES["postgres"].types(), columns, ())
    found = table_findings(table, "postgres", {})
    assert [finding.verdict for finding in found] == [*kinds.values(), "lossy"]


@pytest.mark.parametrize(
    ("engine", "kind", "full", "verdict"),
    [
        ("postgres", "integer", "integer", "exact"),
        ("postgres", "character varying", "character varying(9)", "exact"),
        ("postgres", "uuid", "uuid", "as text"),
        ("postgres", "ARRAY", "integer[]", "exact"),
        ("postgres", "ARRAY", "numeric[]", "not compared"),
        ("postgres", "tsvector", "tsvector", "as text"),
        ("postgres", "int4range", "int4range", "as text"),
        ("postgres", "int4multirange", "int4multirange", "not captured"),
        ("postgres", "polygon", "polygon", "not captured"),
        ("postgres", "time with time zone", "time with time zone", "lossy"),
        ("postgres", "bit varying", "bit varying(20)", "lossy"),
        ("postgres", "name", "name", "not captured"),
        ("postgres", "nobody_knows", "nobody_knows", "not captured"),
        ("mysql", "float", "float", "lossy"),
        ("mysql", "point", "point", "not compared"),
        ("sqlserver", "datetimeoffset", "datetimeoffset(7)", "lossy"),
        ("sqlserver", "sql_variant", "sql_variant", "not captured"),
        ("sqlserver", "hierarchyid", "hierarchyid", "not captured"),
    ],
)
def test_each_type_has_a_verdict(engine: EngineName, kind: str, full: str, verdict: str) -> None:
    column = ("c", Declared(kind, full), True)
    table = SourceTable.of(REF, ENGINES[engine].types(), [column], ())
    (finding,) = table_findings(table, engine, {})
    assert finding.verdict == verdict
    assert bool(finding.silver) is (verdict != "not captured")
