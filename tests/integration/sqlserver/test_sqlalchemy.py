"""SQLAlchemy's two SQL Server dialects: reflection and CRUD on the lab's kind of table."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote_plus

import pytest
import sqlalchemy as sa

from tests.integration.sqlserver.conftest import PASSWORD, Sql, StandIn


@pytest.fixture(params=["pymssql", "pyodbc"])
def engine(
    request: pytest.FixtureRequest, standin: StandIn, sql: Sql, odbc_driver: str
) -> Iterator[sa.Engine]:
    database = sql("SELECT DB_NAME()")[0][0]
    if request.param == "pymssql":
        url = f"mssql+pymssql://sa:{PASSWORD}@127.0.0.1:{standin.port}/{database}"
    else:
        text = (
            f"DRIVER={odbc_driver};SERVER=127.0.0.1;PORT={standin.port};DATABASE={database};"
            f"UID=sa;PWD={PASSWORD};TDS_Version=7.4;ClientCharset=UTF-8"
        )
        url = f"mssql+pyodbc:///?odbc_connect={quote_plus(text)}"
    sql("CREATE SCHEMA crm")
    made = sa.create_engine(url)
    yield made
    made.dispose()


def test_reflection_and_crud(engine: sa.Engine) -> None:
    metadata = sa.MetaData()
    state = sa.Table(
        "state", metadata, sa.Column("code", sa.CHAR(2), primary_key=True), schema="crm"
    )
    user = sa.Table(
        "user", metadata,
        sa.Column("userid", sa.Integer, primary_key=True),
        sa.Column("username", sa.CHAR(8), nullable=False),
        sa.Column("city", sa.Unicode(30), index=True),
        sa.Column("state", sa.CHAR(2), sa.ForeignKey("crm.state.code")),
        sa.Column("likesports", sa.Boolean),
        sa.Column("spent", sa.Numeric(8, 2), server_default="0"),
        schema="crm",
    )  # fmt: skip
    metadata.create_all(engine)
    metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(state.insert().values(code="CA"))
        made = connection.execute(
            user.insert().values(username="abc", city="Łódź", state="CA", likesports=True)
        )
        assert made.inserted_primary_key == (1,)
        connection.execute(user.update().values(city="Zürich").where(user.c.userid == 1))
        rows = connection.execute(
            sa.select(user.c.city, user.c.likesports, user.c.spent).order_by(user.c.userid).limit(5)
        ).all()
    assert [(c, bool(s), str(n)) for c, s, n in rows] == [("Zürich", True, "0.00")]

    inspector = sa.inspect(engine)
    assert inspector.get_table_names(schema="crm") == ["state", "user"]
    columns = {c["name"]: c for c in inspector.get_columns("user", schema="crm")}
    assert columns["userid"]["autoincrement"]
    assert str(columns["spent"]["type"]) == "DECIMAL(8, 2)"
    assert columns["username"]["nullable"] is False
    assert inspector.get_pk_constraint("user", schema="crm")["constrained_columns"] == ["userid"]
    assert inspector.get_foreign_keys("user", schema="crm")[0]["referred_table"] == "state"
    assert [i["column_names"] for i in inspector.get_indexes("user", schema="crm")] == [["city"]]

    reflected = sa.Table("user", sa.MetaData(), schema="crm", autoload_with=engine)
    assert [c.name for c in reflected.columns] == [c.name for c in user.columns]
    with engine.begin() as connection:
        with pytest.raises(sa.exc.IntegrityError), connection.begin_nested():
            connection.execute(user.insert().values(username="x", state="ZZ"))
        connection.execute(user.delete())
        assert connection.scalar(sa.select(sa.func.count()).select_from(user)) == 0
    metadata.drop_all(engine)
