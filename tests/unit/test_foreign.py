"""What a foreign database says becomes no other SQL, file or key than it names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st
from pglast import parse_sql
from pglast.ast import CreateEnumStmt, CreateSchemaStmt, CreateStmt, DoStmt

from labctl.engine_names import EngineName
from labctl.engines.mysql.mysql_client import MySqlSource
from labctl.engines.postgres.postgres_client import PostgresSource
from labctl.engines.postgres.postgres_types import POSTGRES
from labctl.errors import LabError
from labctl.scaffolding.existing import schema_statements
from labctl.scaffolding.foreign import require_plain_names, type_text, value_literal, why_left_out
from labctl.sources import Row, SourceTable, TableRef
from labctl.sources.base import Declared
from labctl.sources.scripts import split_script
from tests.unit.test_inputs_fuzz import EXAMPLES, SEED

HOSTILE = [
    "a: int);COPY(SELECT 1)TO PROGRAM'touch /tmp/x';/*",
    "b: */CREATE TABLE z(id int,--",
    'quote"; DROP TABLE t; --',
    "$$; SELECT 1; $$",
    "$labctl$; SELECT 1; $labctl$",
    "back\\slash'",
]
NAMES = st.sampled_from(HOSTILE) | st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\u2028\u2029"),
    min_size=1,
    max_size=12,
)
LABELS = NAMES | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
)
FILE_NAMES = NAMES.filter(lambda name: not {*"/\\"} & {*name})


def table(
    ref: TableRef, columns: Sequence[tuple[str, str]], keys: Sequence[str] = ()
) -> SourceTable:
    declared = [(name, Declared(kind, kind), True) for name, kind in columns]
    return SourceTable.of(ref, POSTGRES, declared, keys)


def parsed(text: str) -> object:
    """The one statement that the text is, for PostgreSQL's own parser."""
    statements: Any = parse_sql(text)
    (raw,) = statements
    return raw.stmt


class Catalogue(PostgresSource):
    """A PostgreSQL that has enums, and answers nothing else."""

    def __init__(self, enums: list[Row]) -> None:
        self.enums = enums

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        return self.enums


class MariaDb(MySqlSource):
    """A server that shows how a column's values are kept behind its type."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[Row]:
        return [("c", self.kind.partition("(")[0].partition(" ")[0], self.kind, 1, None, None, 1)]


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("varchar(10) /*!100301 COMPRESSED*/", "varchar(10)"),
        ("varchar(10) /*M!100301 COMPRESSED*/", "varchar(10)"),
        ("int(10) unsigned /*x*/ /*y*/", "int(10) unsigned"),
        ("enum('/*!1 x*/','b /*')", "enum('/*!1 x*/','b /*')"),
    ],
)
def test_a_comment_of_mariadbs_is_no_part_of_a_type(kind: str, written: str) -> None:
    described = MariaDb(kind).describe(TableRef("s", "t"))
    (found,) = [c.declared.full for c in described.columns] + [c.type for c in described.unread]
    assert found == written
    assert why_left_out(described, "mysql") is None


@seed(SEED)
@settings(deadline=None, max_examples=max(300, EXAMPLES), database=None)
@given(
    schema=FILE_NAMES,
    name=FILE_NAMES,
    columns=st.lists(st.tuples(NAMES, st.sampled_from(["integer", "point"]))),
    labels=st.lists(LABELS, min_size=1),
)
def test_each_table_is_one_statement_with_the_same_names(
    schema: str, name: str, columns: list[tuple[str, str]], labels: list[str]
) -> None:
    print(f"LABCTL_FUZZ_SEED={SEED}")
    columns = [("id", "integer"), *columns]
    made = table(TableRef(schema, name), columns, keys=["id"])
    assert why_left_out(made, "postgres") is None
    script = schema_statements(Catalogue([(schema, name, labels)]), "shop", [made])
    statements = [one.text for one in split_script(script, "postgres")]
    kinds = []
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029]", script) is None
    for text in statements:
        statement = parsed(text)
        kinds.append(type(statement))
        if isinstance(statement, CreateStmt):
            named: Any = statement
            assert (named.relation.schemaname, named.relation.relname) == (schema, name)
            names = [e.colname for e in named.tableElts if getattr(e, "colname", None)]
            assert sorted(names) == sorted(column for column, _ in columns)
        if isinstance(statement, DoStmt):
            block: Any = statement
            (body,) = (arg.arg.sval for arg in block.args)
            (enum, _) = body.removeprefix(" BEGIN ").rsplit("; EXCEPTION", 1)
            made_type: Any = parsed(enum)
            assert [label.sval for label in made_type.vals] == labels
            assert isinstance(made_type, CreateEnumStmt)
    made_schema = [CreateSchemaStmt] if schema != "public" else []
    assert kinds == [*made_schema, DoStmt, CreateStmt]


@pytest.mark.parametrize(
    ("engine", "kind"),
    [
        ("postgres", "integer"),
        ("postgres", "timestamp(3) without time zone"),
        ("postgres", "interval day to second(3)"),
        ("postgres", "numeric(10,-2)[]"),
        ("postgres", "character varying(10)"),
        ("postgres", "bit varying(5)"),
        ("postgres", '"char"'),
        ("postgres", 'ems."Odd type; --"[]'),
        ("postgres", "geometry(Point,4326)"),
        ("mysql", "bigint unsigned zerofill"),
        ("mysql", "decimal(65,30) unsigned"),
        ("mysql", "enum('a','b''c','d\\'e','f\\\\')"),
        ("mysql", "set('x, y')"),
        ("sqlserver", "nvarchar(max)"),
        ("sqlserver", "datetimeoffset(7)"),
    ],
)
def test_types_of_catalogues_are_taken(engine: EngineName, kind: str) -> None:
    assert why_left_out(table(TableRef("s", "t"), [("c", kind)]), engine) is None


@pytest.mark.parametrize(
    ("kind", "written"),
    [
        ("enum('a','b''c')", "enum('a','b''c')"),
        ("enum('a','tab\t''\\\\')", "enum('a',x'74616209275c')"),
        ("set('\n\\n','\u2028)')", "set(x'0a0a',x'e280a829')"),
        ("varchar(3)", "varchar(3)"),
    ],
)
def test_a_label_with_control_characters_is_written_without_them(kind: str, written: str) -> None:
    assert why_left_out(table(TableRef("s", "t"), [("c", kind)]), "mysql") is None
    assert type_text(kind, "mysql") == written


@pytest.mark.parametrize("engine", ["postgres", "mysql", "sqlserver"])
@pytest.mark.parametrize(
    "kind",
    [
        "",
        "int);COPY(SELECT 1)TO PROGRAM'x'",
        "int, b int",
        "int DEFAULT (SELECT 1)",
        "int DEFAULT pg_read_file('/etc/passwd')--",
        "bigint DEFAULT lo_export(1,'/tmp/x')",
        "bigint DEFAULT lo_export(1)",
        "int REFERENCES t",
        "int /* */",
        "int\n",
        'int COMMENT "\\"',
        "text DEFAULT upper('\\'));COPY(SELECT 1)TO PROGRAM $$x$$;CREATE TABLE z(id int, --')",
        "enum('a\\','b'); DROP TABLE t;--')",
        '"a"b"',
        '"line\nbreak"',
    ],
)
def test_what_is_no_type_leaves_its_table_out(engine: EngineName, kind: str) -> None:
    assert "is not one that labctl can write" in (
        why_left_out(table(TableRef("s", "t"), [("c", kind)]), engine) or ""
    )


@pytest.mark.parametrize(
    ("ref", "key", "why"),
    [
        (TableRef("s", "x/../../../../outside"), "id", "slash"),
        (TableRef("..\\s", "t"), "id", "slash"),
        (TableRef("s", "t\nGO\n"), "id", "control character"),
        (TableRef("s", "t"), "id\nhoodie.injected=1", "control character"),
        (TableRef("s", "t"), "id\u2028x", "control character"),
        (TableRef("s", "t"), "a,b", "list of columns"),
        (TableRef("s", "t"), "a\\", "list of columns"),
    ],
)
def test_names_that_files_cannot_have_are_refused(ref: TableRef, key: str, why: str) -> None:
    odd = table(ref, [(key, "integer")], keys=[key])
    assert why in (why_left_out(odd, "postgres") or "")
    with pytest.raises(LabError, match="cannot be captured"):
        require_plain_names(odd)


@pytest.mark.parametrize(
    ("engine", "text", "written"),
    [
        ("postgres", "NULL", "NULL"),
        ("postgres", "'it''s\n'", "'it''s\n'"),
        ("postgres", "E'a\\\\b'", "E'a\\\\b'"),
        ("mysql", "'it\\'s\nDELIMITER x\r\n'", "'it\\'s\\nDELIMITER x\\r\\n'"),
        ("mysql", "x'00FF'", "x'00FF'"),
    ],
)
def test_a_value_is_one_literal(engine: EngineName, text: str, written: str) -> None:
    assert value_literal(text, engine) == written


@pytest.mark.parametrize(
    ("engine", "text"),
    [
        ("postgres", "1); COPY t TO PROGRAM 'x'; --"),
        ("postgres", "'a'; DROP TABLE t; --'"),
        ("postgres", "'a\\'"),
        ("mysql", "'a\\'"),
        ("mysql", "load_file('/etc/passwd')"),
    ],
)
def test_anything_else_is_no_value(engine: EngineName, text: str) -> None:
    with pytest.raises(LabError, match="no single literal"):
        value_literal(text, engine)
