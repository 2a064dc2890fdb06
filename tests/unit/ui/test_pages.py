"""The pages of a lab that does not run: each says what is, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from labctl.cli import COMMANDS
from labctl.ui.rendering import PAGES
from tests.unit.ui.page_client import NAME, OWN_PAGE, page_client

NO_LAB = f"There is no lab named &#39;{NAME}&#39;"


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with page_client() as one:
        yield one


@pytest.mark.parametrize("path", [path for path, _ in PAGES.values()])
def test_the_menus_pages_are_there(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert f'<a href="{path}" aria-current="page">' in answer.text


def test_an_unknown_page_is_one_clear_error(client: TestClient) -> None:
    answer = client.get("/nothing/here")
    assert answer.status_code == 404
    assert "There is no page /nothing/here" in answer.text


def test_an_unknown_service_is_named_with_those_that_exist(client: TestClient) -> None:
    answer = client.get("/services/kafak")
    assert answer.status_code == 400
    assert "kafak" in answer.text
    assert "kafka" in answer.text.replace("kafak", "")


@pytest.mark.parametrize(
    "path",
    [
        *("/tables/list", "/tables/a.b/commits", "/query/names", "/topics/list"),
        *("/topics/a/records", "/topics/a/schemas", "/topics/a/letters"),
        *("/connectors/list", "/connectors/a/now", "/faults/form"),
    ],
)
def test_what_needs_the_lab_says_that_there_is_none(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"HX-Request": "true"})
    assert NO_LAB in answer.text
    assert "Traceback" not in answer.text


def test_hostile_names_are_text(client: TestClient) -> None:
    answer = client.get("/tables/<script>alert(1)<%2Fscript>")
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize(
    ("fields", "what"),
    [
        ("sql=", "There is no SQL"),
        ("", "There is no SQL"),
        ("sql=SELECT+1&as_of=yesterday", NO_LAB),
    ],
)
def test_a_query_that_cannot_be_asked_is_one_clear_error(
    client: TestClient, fields: str, what: str
) -> None:
    answer = client.post(
        "/query/answer",
        content=fields,
        headers={**OWN_PAGE, "HX-Request": "true"},
    )
    assert what in answer.text


@pytest.mark.parametrize(
    ("path", "fields", "what"),
    [
        ("/faults/cause", "kind=kill&service=kafka&seconds=0", "lasts 1 to 120 seconds"),
        ("/faults/cause", "kind=kill&service=kafka&seconds=x", "lasts 1 to 120 seconds"),
        ("/faults/cause", "kind=kill&service=kafka&seconds=1", NO_LAB),
        ("/faults/cause", "kind=--help&seconds=1", "--help"),
        ("/snapshots/save", "name=+", "needs a name"),
        ("/snapshots/restore", "name=%2E%2E%2Fetc", "../etc"),
    ],
)
def test_what_cannot_be_done_is_one_clear_error(
    client: TestClient, path: str, fields: str, what: str
) -> None:
    headers = {**OWN_PAGE, "HX-Request": "true"}
    answer = client.post(path, content=fields, headers=headers)
    assert 'class="error"' in answer.text
    assert what in answer.text
    assert "Traceback" not in answer.text


@pytest.mark.parametrize("key", ["", "{", "[]", "{}", "3"])
def test_a_row_without_a_key_is_not_looked_up(client: TestClient, key: str) -> None:
    answer = client.get("/change/row", params={"table": "tickit.sale", "key": key})
    assert answer.status_code == 400
    assert "salesid" in answer.text or NO_LAB in answer.text


def test_the_commands_that_pages_name_exist(client: TestClient) -> None:
    for path in (
        *[path for path, _ in PAGES.values()],
        "/services/kafka",
        "/tables/a.b",
        "/connectors/a",
    ):
        for name in re.findall(r"<code>labctl (\w+)", client.get(path).text):
            assert name in COMMANDS
