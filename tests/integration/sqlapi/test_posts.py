"""What the posts' application asks of Athena: by boto3, with `endpoint_url` as the only difference.

Its tables, view, named query and prepared statement come from `gold/` and `queries/`, as
`labctl catalog apply` makes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import boto3
import pytest

from labctl.config.lab_config import find_project
from labctl.errors import ExitCode, LabError
from labctl.lab.catalog.athena_connection import Connection
from labctl.lab.catalog.lab_catalog import Catalog
from labctl.lake.column_comments import CommentsInLake
from labctl.lake.objectstore import LakeStorage
from sqlapi.settings import Settings
from sqlapi.sources.memory import MemorySource
from sqlapi.storage import Storage
from tests.integration.sqlapi.conftest import (
    BUCKET,
    KEY,
    OUTPUT,
    REGION,
    SECRET,
    Athena,
    Endpoint,
    Serving,
)
from tests.integration.sqlserver.conftest import Postgres
from tests.ports import free_port
from tests.unit.test_gold import silver

PROJECT = find_project(Path(__file__))
_DAYS = (date(2008, 1, 1), date(2008, 1, 2))
_SOLD = datetime(2008, 1, 1, 9, 30)


def _tables() -> dict[str, Any]:
    def sale(number: int, seller: int, event: int, quantity: int, **more: Any) -> dict[str, Any]:
        keys = {"salesid": number, "listid": number, "sellerid": seller, "buyerid": 2}
        paid = {"pricepaid": Decimal("10.05"), "commission": Decimal("1.51"), "saletime": _SOLD}
        return {**keys, "eventid": event, "dateid": event, "qtysold": quantity, **paid, **more}

    likes = {1: {"likejazz": True}, 2: {"likejazz": True, "likerock": True}, 3: {"likerock": False}}
    return {
        "category": silver("category", {"catid": 1, "catgroup": "Shows", "catname": "Plays"}),
        "venue": silver("venue", {"venueid": 1, "venuename": "Öper", "venueseats": 0}),
        "event": silver(
            "event",
            *({"eventid": n, "venueid": 1, "catid": 1, "dateid": n, "eventname": f"E{n}"}
              for n in (1, 2)),
        ),
        "date": silver(
            "date", *({"dateid": n, "caldate": day} for n, day in enumerate(_DAYS, 1))
        ),
        "listing": silver("listing", {"listid": 1, "sellerid": 3}),
        "sale": silver(
            "sale",
            sale(1, 3, 2, 3),
            sale(2, 3, 1, 1),
            sale(3, 1, 1, 2, buyerid=3),
            sale(4, 3, 1, 9, __deleted="true"),
        ),
        "user": silver(
            "user",
            *({"userid": n, "firstname": f"F{n}", "lastname": f"L{n}", **liked}
              for n, liked in likes.items()),
        ),
    }  # fmt: skip


@pytest.fixture(scope="module")
def posts(postgres: Postgres, minio: str, storage: Storage) -> Iterator[Endpoint]:
    """An endpoint over silver's seven tables."""
    postgres.sql("CREATE DATABASE posts")
    settings = Settings(dsn=postgres.dsn("posts"), keys={KEY: SECRET}, output=OUTPUT)
    source = MemorySource({f"tickit.{name}": rows for name, rows in _tables().items()})
    serving = Serving(settings, storage, source, port := free_port())
    yield Endpoint(f"http://127.0.0.1:{port}", minio, settings.dsn)
    serving.stop()


def catalog(posts: Endpoint, project: Path = PROJECT) -> Catalog:
    glue, athena = (Connection(posts.client(name)) for name in ("glue", "athena"))
    nothing_said = CommentsInLake(LakeStorage.local(project), dict)
    return Catalog(glue, athena, MemorySource({}), project, nothing_said)


@pytest.fixture(scope="module", autouse=True)
def applied(posts: Endpoint) -> list[str]:
    """What the first `labctl catalog apply` wrote."""
    return [f"{change.action} {change.what}" for change in catalog(posts).apply()]


@pytest.fixture
def asked(posts: Endpoint, monkeypatch: pytest.MonkeyPatch) -> Athena:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    return Athena(boto3.client("athena", endpoint_url=posts.url))


def rows(asked: Athena, sql: str, **options: Any) -> list[list[str | None]]:
    """As the posts' service asks: its own database, its own place for results."""
    place = {"OutputLocation": f"s3://{BUCKET}/tickit/"}
    return asked.rows(sql, "tickit_demo", ResultConfiguration=place, **options)


def test_all_is_made_at_once_and_then_nothing(applied: list[str], posts: Endpoint) -> None:
    assert applied[-2:] == [
        "create named query tickit_demo.buyer_likes_by_category",
        "create prepared statement tickit_sales_by_seller",
    ]
    assert "create view tickit_demo.refined_tickit_public_sales" in applied
    assert catalog(posts).apply() == []


def test_the_seven_tables(asked: Athena) -> None:
    for name, count in (("category", 1), ("date", 2), ("event", 2), ("listing", 1), ("sales", 3),
                        ("users", 3), ("venue", 1)):  # fmt: skip
        table = f"refined_tickit_public_{name}"
        assert rows(asked, f"SELECT count(*) FROM {table}") == [[str(count)]]
        metadata = asked.client.get_table_metadata(
            CatalogName="AwsDataCatalog", DatabaseName="tickit_demo", TableName=table
        )
        columns = [column["Name"] for column in metadata["TableMetadata"]["Columns"]]
        assert not [column for column in columns if column.startswith("_")]
    page = (
        "SELECT * FROM refined_tickit_public_sales WHERE salesid IS NOT NULL"
        " ORDER BY salesid OFFSET 1 LIMIT 1"
    )
    assert rows(asked, page) == [
        ["2", "2", "3", "2", "1", "1", "1", "10.05", "1.51", "2008-01-01 09:30:00.000"]
    ]
    one = "SELECT eventname FROM refined_tickit_public_event WHERE eventid = 2"
    assert rows(asked, one) == [["E2"]]


@pytest.mark.parametrize(
    "view", ["view_tickit_sales_by_day_and_category", "tickit_sales_by_day_and_category"]
)
def test_the_view(asked: Athena, view: str) -> None:
    assert rows(asked, f"SELECT * FROM {view} WHERE caldate IS NOT NULL ORDER BY caldate") == [
        ["2008-01-01", "Shows", "Plays", "30.15", "3.02"],
        ["2008-01-02", "Shows", "Plays", "30.15", "1.51"],
    ]


def test_the_prepared_statement(asked: Athena) -> None:
    expected = [
        ["2008-01-01", "10.05", "1", "10.05", "1.51", "15.02", "E1", "F3 L3", "F2 L2", "Shows",
         "Plays"],
        ["2008-01-02", "10.05", "3", "30.15", "1.51", "5.01", "E2", "F3 L3", "F2 L2", "Shows",
         "Plays"],
    ]  # fmt: skip
    assert rows(asked, "EXECUTE tickit_sales_by_seller USING 3") == expected
    given = {"ExecutionParameters": ["3"]}
    assert rows(asked, "EXECUTE tickit_sales_by_seller", **given) == expected
    assert rows(asked, "EXECUTE tickit_sales_by_seller USING 2") == []


def test_the_named_query_by_its_id(asked: Athena) -> None:
    (id_,) = asked.client.list_named_queries()["NamedQueryIds"]
    query = asked.client.get_named_query(NamedQueryId=id_)["NamedQuery"]
    assert (query["Name"], query["Database"]) == ("buyer_likes_by_category", "tickit_demo")
    # of users 2 and 3, who bought
    assert rows(asked, query["QueryString"]) == [["0", "0", "0", "1", "0", "0", "1", "0", "0", "0"]]


def test_a_changed_file_changes_what_is_kept(
    posts: Endpoint, asked: Athena, tmp_path: Path
) -> None:
    def file(name: str, text: str) -> None:
        path = tmp_path / "queries" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def changes() -> list[tuple[str, str, tuple[str, ...]]]:
        found = catalog(posts, tmp_path).apply()
        assert catalog(posts, tmp_path).apply() == []
        return [(change.action, change.what, change.details) for change in found]

    named, prepared = "named/tickit/groups.sql", "prepared/of_group.sql"
    file(named, "-- Groups,\n-- once each.\nSELECT DISTINCT catgroup FROM category;\n")
    file(prepared, "SELECT catname FROM tickit.category WHERE catgroup = ?")
    assert changes() == [
        ("create", "named query tickit.groups", ()),
        ("create", "prepared statement of_group", ()),
    ]
    queries = {
        query["Name"]: query
        for query in asked.client.batch_get_named_query(
            NamedQueryIds=asked.client.list_named_queries()["NamedQueryIds"]
        )["NamedQueries"]
    }
    assert queries["groups"]["Description"] == "Groups, once each."
    file(named, "SELECT DISTINCT catgroup FROM category")
    file(prepared, "-- Names.\nSELECT upper(catname) FROM tickit.category WHERE catgroup = ?")
    assert changes() == [
        ("update", "named query tickit.groups", ("its description",)),
        ("update", "prepared statement of_group", ("its SQL", "its description")),
    ]
    # an application knows it by its id
    id_ = queries["groups"]["NamedQueryId"]
    query = asked.client.get_named_query(NamedQueryId=id_)["NamedQuery"]
    assert query.get("Description", "") == ""
    assert rows(asked, "EXECUTE of_group USING 'Shows'") == [["PLAYS"]]

    for name, text, said in (
        ("groups.sql", "SELECT 1", "queries/named/<database>/<name>.sql"),
        ("prepared/bare.sql", "SELECT * FROM category", "says the database of category"),
        ("named/tickit/wrong.sql", "SELEC 1", "wrong.sql"),
    ):
        file(name, text)
        with pytest.raises(LabError, match=said) as caught:
            catalog(posts, tmp_path).apply()
        assert caught.value.exit_code is ExitCode.USAGE
        (tmp_path / "queries" / name).unlink()
