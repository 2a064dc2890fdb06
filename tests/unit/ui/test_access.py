"""Who may read the page, and who may change something by it."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.testclient import TestClient

from labctl.ui.change_reading import Column, RowAtSource
from labctl.ui.rendering import PAGES, render
from tests.unit.ui.page_client import OWN_PAGE, PORT, TOKEN, page_client


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with page_client() as one:
        yield one


def test_the_links_token_becomes_a_cookie_that_no_script_reads_and_leaves_the_address() -> None:
    with page_client(with_cookie=False) as client:
        answer = client.get("/tables?token=right&a=b")
        assert answer.status_code == 303
        assert answer.headers["location"] == "/tables?a=b"
        cookie = answer.headers["set-cookie"].lower()
        assert f"labctl-ui-{PORT}=right" in cookie
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert client.get("/tables").status_code == 200


@pytest.mark.parametrize("path", ["/", "/live/pipeline", "/tables/list", "/query", "/nothing"])
@pytest.mark.parametrize("given", ["", "?token=", "?token=wrong", "?token=righ%C3%A9"])
def test_without_the_token_nothing_is_read(path: str, given: str) -> None:
    with page_client(with_cookie=False) as client:
        answer = client.get(path + given)
    assert answer.status_code == 401
    assert "labctl ui" in answer.text


@pytest.mark.parametrize("path", ["//evil.example/", "/%2F/evil.example", "/\\evil.example"])
def test_the_redirect_stays_on_this_host(client: TestClient, path: str) -> None:
    answer = client.get(f"http://127.0.0.1:{PORT}{path}", params={"token": TOKEN})
    location = answer.headers.get("location", "/")
    assert location.startswith("/")
    assert not location.startswith(("//", "/\\"))


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", f"[::1]:{PORT}"]
)
def test_another_name_gets_no_answer_also_with_the_token(client: TestClient, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 403
    assert client.get("/static/page.css", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize(
    "origin", [None, "null", "http://evil.example", "http://127.0.0.1", f"https://127.0.0.1:{PORT}"]
)
def test_only_a_form_of_the_page_changes_something(client: TestClient, origin: str | None) -> None:
    headers = {} if origin is None else {"Origin": origin}
    for path in ("/services/kafka/restart", "/change/write", "/query/answer"):
        assert client.post(path, headers=headers).status_code == 403


def test_a_read_only_page_changes_nothing() -> None:
    with page_client(is_read_only=True) as client:
        for path in ("/services/kafka/restart", "/change/write"):
            answer = client.post(path, headers=OWN_PAGE)
            assert answer.status_code == 400
            assert "without --read-only" in answer.text


@pytest.mark.parametrize(("is_read_only", "buttons"), [(True, 0), (False, 1)])
def test_a_read_only_page_shows_no_buttons_that_change_something(
    is_read_only: bool, buttons: int
) -> None:
    values: dict[str, Any] = {
        "service": SimpleNamespace(name="kafka", title="Apache Kafka"),
        "urls": {},
        "pages": PAGES,
        "active": "pipeline",
        "command": None,
        "lab_name": "one",
        "is_read_only": is_read_only,
    }
    assert render("service.html.j2", **values).count("<button") == buttons
    row = RowAtSource((Column("salesid", "int", "1", is_key=True),))
    written = {"source": "mysql", "table": "sale", "key": {}, "row": row, "asked": {}}
    values |= {**written, "column": None, "value": None, "command": ""}
    assert render("change_row_part.html.j2", **values).count("<button") == buttons


def test_every_answer_forbids_scripts_that_are_not_the_pages(client: TestClient) -> None:
    for path in ("/", "/static/page.js", "/nothing", "/services/nothing", "/query"):
        answer = client.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_no_page_has_scripts_or_styles_of_its_own(client: TestClient) -> None:
    for path in ("/", "/tables", "/tables/a.b", "/change", "/query", "/services/kafka"):
        text = client.get(path).text.lower()
        assert "<style" not in text
        assert " style=" not in text
        assert "<script>" not in text
        assert " onclick=" not in text
