"""Alembic: autogenerate, upgrade and downgrade, and the operations particular to SQL Server."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata, produce_migrations, render_python_code
from alembic.migration import MigrationContext
from alembic.operations import Operations
from alembic.operations.ops import DowngradeOps, UpgradeOps
from sqlalchemy.dialects import mssql

from tests.integration.sqlserver.conftest import PASSWORD, Sql, StandIn


@pytest.fixture
def connection(standin: StandIn, sql: Sql) -> Iterator[sa.Connection]:
    database = sql("SELECT DB_NAME()")[0][0]
    url = f"mssql+pymssql://sa:{PASSWORD}@127.0.0.1:{standin.port}/{database}"
    engine = sa.create_engine(url)
    with engine.connect() as opened:
        yield opened
    engine.dispose()


def _first() -> sa.MetaData:
    metadata = sa.MetaData()
    sa.Table(
        "author", metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("Name", sa.Unicode(50), nullable=False, server_default="x"),
        sa.Column("born", sa.Date),
    )  # fmt: skip
    return metadata


def _second() -> sa.MetaData:
    metadata = sa.MetaData()
    sa.Table(
        "author", metadata,
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("Name", sa.Unicode(80)),
        sa.Column("email", sa.String(100)),
    )  # fmt: skip
    sa.Table(
        "book", metadata,
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("author_id", sa.ForeignKey("author.id", name="fk_book_author")),
        sa.Column("title", sa.UnicodeText),
        sa.Column("active", sa.Boolean, nullable=False, server_default=sa.text("1")),
        sa.Column("isbn", sa.CHAR(13)),
        sa.Index("ix_book_isbn", "isbn", unique=True),
    )  # fmt: skip
    return metadata


def _context(connection: sa.Connection) -> MigrationContext:
    options = {"compare_type": True, "compare_server_default": True}
    return MigrationContext.configure(connection, opts=options)


def _run(connection: sa.Connection, operations: UpgradeOps | DowngradeOps) -> None:
    """Run a revision's body as Alembic would write it into the file."""
    lines = render_python_code(operations).splitlines()
    body = ast.parse(
        textwrap.dedent("\n".join(["    pass", *(f"    {n.lstrip()}" for n in lines)]))
    )
    names = {"op": Operations(_context(connection)), "sa": sa, "mssql": mssql}
    exec(compile(body, "revision", "exec"), names)  # noqa: S102 - generated just before
    connection.commit()


def test_autogenerate_upgrade_and_downgrade(connection: sa.Connection) -> None:
    downgrades = []
    for metadata in (_first(), _second()):
        script = produce_migrations(_context(connection), metadata)
        connection.commit()
        assert script.upgrade_ops is not None
        _run(connection, script.upgrade_ops)
        assert compare_metadata(_context(connection), metadata) == []
        connection.commit()
        downgrades.append(script.downgrade_ops)
    author = sa.Table("author", sa.MetaData(), autoload_with=connection)
    connection.execute(author.insert().values(Name="Łódź"))
    connection.commit()
    later, first = downgrades[1], downgrades[0]
    assert later is not None
    assert first is not None
    _run(connection, later)
    assert compare_metadata(_context(connection), _first()) == []
    assert connection.scalar(sa.text("SELECT [Name] FROM author")) == "Łódź"
    connection.commit()
    _run(connection, first)
    assert sa.inspect(connection).get_table_names() == []


def test_operations(connection: sa.Connection) -> None:
    op = Operations(_context(connection))
    op.create_table(
        "t",
        sa.Column("a", sa.Integer, primary_key=True),
        sa.Column("b", sa.String(10), sa.CheckConstraint("b <> 'x'"), server_default="q"),
        sa.Column("c", sa.Integer, server_default="5"),
        sa.Column("d", sa.Integer),
    )
    op.alter_column("t", "c", server_default=None, existing_type=sa.Integer)
    op.alter_column("t", "c", server_default="7", existing_type=sa.Integer)
    op.alter_column("t", "c", new_column_name="Cee", existing_type=sa.Integer)
    op.alter_column("t", "Cee", type_=sa.BigInteger, nullable=False, server_default="9",
                    existing_server_default="7")  # fmt: skip
    op.rename_table("t", "Tee")
    op.create_table_comment("Tee", "a comment")
    comment = "SELECT value FROM sys.extended_properties WHERE major_id = OBJECT_ID('Tee')"
    assert connection.scalar(sa.text(comment)) == "a comment"
    op.drop_table_comment("Tee")
    op.create_table(
        "u",
        sa.Column("a", sa.Integer, primary_key=True),
        sa.Column("r", sa.Integer, sa.ForeignKey("Tee.a")),
    )
    op.drop_column("u", "r", mssql_drop_foreign_key=True)
    op.drop_column("Tee", "b", mssql_drop_check=True, mssql_drop_default=True)
    op.drop_column("Tee", "Cee", mssql_drop_default=True)
    op.create_unique_constraint("uq_d", "Tee", ["d"])
    op.drop_constraint("uq_d", "Tee")
    op.create_check_constraint("ck_d", "Tee", "d > 0")
    op.add_column("Tee", sa.Column("x", sa.DateTime(timezone=True), nullable=False,
                                   server_default=sa.func.sysdatetimeoffset()))  # fmt: skip
    op.bulk_insert(sa.table("Tee", sa.column("d")), [{"d": 1}, {"d": 2}])
    assert connection.scalar(sa.text("SELECT SUM(d) FROM Tee")) == 3
    assert [c["name"] for c in sa.inspect(connection).get_columns("Tee")] == ["a", "d", "x"]
    with pytest.raises(sa.exc.DBAPIError, match=r"a computed column \(y\)"):
        op.add_column("Tee", sa.Column("y", sa.Integer, sa.Computed("d * 2")))
