"""The DDL of each engine says what the declaration says."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from seeds.tickit import TABLES, Column, Table, ddl

SPELLINGS = {
    "postgres": {},
    "mysql": {"timestamp": "datetime(6)"},
    "sqlserver": {"timestamp": "datetime2(6)", "boolean": "bit"},
}
UNICODE_IN_SQLSERVER = {"firstname", "lastname", "city"}


def created_columns(table: Table) -> dict[str, tuple[str, bool]]:
    """Type and nullability of each column in the table's CREATE TABLE statement."""
    names = rf"{table.schema}\.[`\[]?{table.name}[`\]]?"
    match = re.search(
        rf"CREATE TABLE (?:IF NOT EXISTS )?{names} \((.*?)\n *\)", ddl(table.engine), re.S
    )
    assert match, f"no CREATE TABLE for {table.label}"
    columns = {}
    for line in match[1].strip().split("\n"):
        name, declared, *rest = line.strip().rstrip(",").split()
        columns[name.strip("`[]")] = (declared, " ".join(rest)[:8] != "NOT NULL")
    return columns


def spelled(table: Table, column: Column) -> str:
    declared = SPELLINGS[table.engine].get(column.declared, column.declared)
    is_unicode = table.engine == "sqlserver" and column.name in UNICODE_IN_SQLSERVER
    return f"n{declared}" if is_unicode else declared


@pytest.mark.parametrize("name", TABLES)
def test_ddl_follows_the_declaration(name: str) -> None:
    table = TABLES[name]
    expected = {c.name: (spelled(table, c), c.nullable) for c in table.columns}
    assert created_columns(table) == expected


def test_full_size_of_the_data_set() -> None:
    assert sum(table.rows for table in TABLES.values()) == 424_319


@pytest.mark.parametrize(
    ("declared", "arrow"),
    [
        ("smallint", pa.int32()),
        ("decimal(8,2)", pa.decimal128(8, 2)),
        ("char(3)", pa.string()),
        ("timestamp", pa.timestamp("us")),
    ],
)
def test_arrow_types(declared: str, arrow: pa.DataType) -> None:
    assert Column("c", declared).arrow == arrow


def test_unknown_type_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown type 'money'"):
        _ = Column("c", "money").arrow


def test_sqlserver_script_makes_a_filegroup_for_change_tables() -> None:
    script = ddl("sqlserver")
    assert script.rstrip().endswith("GO")
    assert script.index("ADD FILEGROUP cdc") < script.index("TO FILEGROUP cdc")
