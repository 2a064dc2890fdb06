"""PyAthena, unmodified: cursors of several kinds, and SQLAlchemy's dialect with reflection."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import quote_plus

import boto3
import pandas as pd
import pytest
import sqlalchemy
from pyathena import connect
from pyathena.cursor import DictCursor
from pyathena.error import OperationalError
from pyathena.pandas.cursor import PandasCursor
from pyathena.pandas.util import to_sql

from tests.integration.sqlapi.conftest import KEY, OUTPUT, REGION, SECRET, Endpoint

SALES = "SELECT id, price, note FROM sale WHERE id < 3 ORDER BY id"


@pytest.fixture
def addresses(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Endpoint:
    """The endpoint as clients find it that ask AWS's variables."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_ATHENA", endpoint.url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_GLUE", endpoint.url)
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", endpoint.store_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    return endpoint


def _connect(**options: Any) -> Any:
    return connect(
        s3_staging_dir=OUTPUT,
        region_name=REGION,
        schema_name="tickit",
        poll_interval=0.05,
        **options,
    )


def test_cursor(addresses: Endpoint) -> None:
    cursor = _connect().cursor()
    assert cursor.execute(SALES).fetchall() == [
        (1, Decimal("10.50"), 'a,"b"'),
        (2, Decimal("3.25"), ""),
    ]
    assert [d[:2] for d in cursor.description] == [
        ("id", "integer"), ("price", "decimal"), ("note", "varchar"),
    ]  # fmt: skip
    assert cursor.execute("SELECT id FROM sale WHERE id = %(id)s", {"id": 2}).fetchall() == [(2,)]
    with pytest.raises(OperationalError, match="TABLE_NOT_FOUND"):
        cursor.execute("SELECT * FROM nowhere")


def test_dict_cursor(addresses: Endpoint) -> None:
    cursor = _connect(cursor_class=DictCursor).cursor()
    assert cursor.execute("SELECT id, day FROM sale WHERE id = 3").fetchall() == [
        {"id": 3, "day": None}
    ]


@pytest.mark.parametrize("unload", [False, True])
def test_pandas_cursor(addresses: Endpoint, unload: bool) -> None:
    cursor = _connect(cursor_class=PandasCursor).cursor(unload=unload)
    frame = cursor.execute(SALES).as_pandas()
    assert frame["id"].tolist() == [1, 2]
    assert frame["note"].tolist()[0] == 'a,"b"'


def test_sqlalchemy(addresses: Endpoint) -> None:
    engine = sqlalchemy.create_engine(
        f"awsathena+rest://{KEY}:{SECRET}@athena.{REGION}.amazonaws.com:443/tickit"
        f"?s3_staging_dir={quote_plus(OUTPUT)}"
    )
    with engine.connect() as connection:
        assert "sale" in sqlalchemy.inspect(connection).get_table_names("tickit")
        sale = sqlalchemy.Table("sale", sqlalchemy.MetaData(), autoload_with=connection)
        query = sqlalchemy.select(sale.c.id).where(sale.c.qty > 1).order_by(sale.c.id)
        assert connection.execute(query).scalars().all() == [1, 3]
    engine.dispose()


def test_what_is_asked_of_information_schema(addresses: Endpoint) -> None:
    """When a frame is written, and when the dialect cannot describe a table otherwise."""
    frame = pd.DataFrame({"id": [1]})
    with pytest.raises(OperationalError, match="already exists"):
        to_sql(frame, "Sale", _connect(), f"{OUTPUT}frame/", schema="tickit", if_exists="fail")
    engine = sqlalchemy.create_engine(
        f"awsathena+rest://{KEY}:{SECRET}@athena.{REGION}.amazonaws.com:443/tickit"
        f"?s3_staging_dir={quote_plus(OUTPUT)}"
    )
    dialect: Any = engine.dialect
    with engine.connect() as connection:
        raw = connection.connection
        found = dialect._columns_from_information_schema(raw, "MoMA", "Artists")
        described = dialect.get_columns(connection, "artists", "moma")
    engine.dispose()
    assert [column["name"] for column in found] == ["id", "name"]
    names = [(column["name"], str(column["type"])) for column in found]
    assert names == [(column["name"], str(column["type"])) for column in described]
    assert found[1]["dialect_options"]["awsathena_partition"] is True
