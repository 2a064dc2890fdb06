"""For how long a table's commit is believed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lakeapi.problems import LakeUnavailableError
from lakeapi.settings import of_environment
from lakeapi.tables import Tables
from lakeapi.versions import Versions
from lakeapi.views import Ref, tables_of_view
from sqlapi.catalog.views import view_input

NAMES = Tables()


class Catalog:
    """Answers GetTable with its commit at the question, when it is let; some are views."""

    def __init__(self) -> None:
        self.commit = "1"
        self.views: dict[str, Any] = {}
        self.asked = 0
        self.answers = threading.Event()
        self.answers.set()

    def get_table(self, **table: Any) -> Any:
        self.asked += 1
        if view := self.views.get(table["Name"]):
            return {"Table": view}
        commit = self.commit
        assert self.answers.wait(30)
        return {"Table": {"Name": "t", "Parameters": {"last_commit_time_sync": commit}}}


def run(test: Callable[[Versions, Catalog], Awaitable[None]], seconds: float) -> None:
    catalog: Any = Catalog()
    settings = of_environment(results_bucket="b", version_seconds=seconds)

    async def inside() -> None:
        await test(Versions(settings, catalog), catalog)

    asyncio.run(inside())


async def until(check: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not check():
            await asyncio.sleep(0.001)


def test_it_is_asked_for_once_while_it_is_believed() -> None:
    async def test(versions: Versions, catalog: Catalog) -> None:
        found = await asyncio.gather(*(versions.of(["sale"]) for _ in range(25)))
        assert set(found) == {"1"}
        assert await versions.of(["sale"]) == "1"
        assert catalog.asked == 1
        assert await versions.of(["sale", "user"]) == "1,1"
        assert catalog.asked == 2

    run(test, 60)


def test_a_change_is_known_after_that() -> None:
    async def test(versions: Versions, catalog: Catalog) -> None:
        assert await versions.of(["sale"]) == "1"
        catalog.commit = "2"
        await asyncio.sleep(0.011)  # what is tested is time itself
        assert await versions.of(["sale"]) == "2"

    run(test, 0.01)


def test_a_question_from_before_is_no_answer_for_who_comes_later() -> None:
    """However slow the catalog is."""

    async def test(versions: Versions, catalog: Catalog) -> None:
        catalog.answers.clear()
        first = asyncio.create_task(versions.of(["sale"]))
        await until(lambda: catalog.asked == 1)
        catalog.commit = "2"
        await asyncio.sleep(0.011)  # the question is older than what is believed
        later = asyncio.create_task(versions.of(["sale"]))
        await asyncio.sleep(0)
        catalog.answers.set()
        assert await first == "1"
        assert await later == "2"

    run(test, 0.01)


def test_who_comes_the_moment_that_a_question_is_answered_asks_another() -> None:
    """The answered one is not forgotten yet, and too old: waiting for it again would be for ever,
    and nobody else's turn would come."""

    async def test(versions: Versions, catalog: Catalog) -> None:
        answered = asyncio.get_running_loop().create_future()
        fetch, ask, calls = versions._fetch, versions._ask, 0

        async def slow(table: Any) -> None:
            await fetch(table)
            await answered

        def counted(table: Any) -> Any:
            nonlocal calls
            calls += 1
            assert calls < 100
            return ask(table)

        versions._fetch, versions._ask = slow, counted  # type: ignore[method-assign]
        first = asyncio.create_task(versions.of(["sale"]))
        await until(lambda: bool(versions._known))
        await asyncio.sleep(0.011)  # the question is older than what is believed
        catalog.commit = "2"
        answered.set_result(None)
        # It begins when `slow` has just ended, before anything else is done.
        later = asyncio.create_task(versions._of(Ref(versions._settings.database, NAMES.sale)))
        assert await first == "1"
        assert await later == "2"

    run(test, 0.01)


def test_a_catalog_that_is_away_is_an_error_and_asked_again() -> None:
    from botocore.exceptions import EndpointConnectionError

    async def test(versions: Versions, catalog: Catalog) -> None:
        working = catalog.get_table

        def away(**_: Any) -> Any:
            raise EndpointConnectionError(endpoint_url="http://nowhere")

        catalog.get_table = away  # type: ignore[method-assign]
        with pytest.raises(LakeUnavailableError, match="nowhere"):
            await versions.of(["sale"])
        catalog.get_table = working  # type: ignore[method-assign]
        assert await versions.of(["sale"]) == "1"

    run(test, 60)


def view(sql: str) -> dict[str, Any]:
    return view_input("v", sql, catalog="AwsDataCatalog", database="demo", columns=[]) | {
        "VersionId": "3"
    }


def test_a_view_is_as_new_as_the_tables_that_it_reads() -> None:
    """Through another view, too: it has no commit of its own."""

    async def test(versions: Versions, catalog: Catalog) -> None:
        catalog.views = {
            NAMES.sale: view("SELECT * FROM inner_view"),
            "inner_view": view("SELECT salesid FROM silver.sale"),
        }
        assert await versions.of(["sale"]) == "3//3//1"
        catalog.commit = "2"
        await asyncio.sleep(0.011)
        assert await versions.of(["sale"]) == "3//3//2"

    run(test, 0.01)


@pytest.mark.parametrize(
    ("sql", "tables"),
    [
        ("SELECT 1", []),
        ('SELECT * FROM "Sale"', ["demo.sale"]),
        ("WITH s AS (SELECT * FROM silver.sale) SELECT * FROM s", ["silver.sale"]),
        ("SELECT * FROM a JOIN x.b USING (id) UNION SELECT * FROM c", ["demo.a", "demo.c", "x.b"]),
        ("SELECT (SELECT max(id) FROM a) FROM b WHERE EXISTS (SELECT 1 FROM c)",
         ["demo.a", "demo.b", "demo.c"]),
        ("SELECT * FROM awsdatacatalog.silver.sale, UNNEST(names) AS t (n)", ["silver.sale"]),
    ],
)  # fmt: skip
def test_the_tables_of_a_view(sql: str, tables: list[str]) -> None:
    definition: Any = view(sql)
    assert [".".join(ref) for ref in tables_of_view(definition)] == tables


@pytest.mark.parametrize("text", ["", "SELECT 1", "/* Presto View: e30= */"])
def test_nobody_knows_how_new_a_view_is_that_cannot_be_read(text: str) -> None:
    definition: Any = {"Name": "v", "TableType": "VIRTUAL_VIEW", "ViewOriginalText": text}
    with pytest.raises(LakeUnavailableError, match="what the view v reads is not known"):
        tables_of_view(definition)
