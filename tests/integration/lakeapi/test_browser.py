"""The API's pages in a real browser, which reaches nothing but this machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser import asked_for, find_browser, shown
from tests.integration.lakeapi.conftest import Api

pytestmark = pytest.mark.long


@pytest.mark.parametrize("page", ["/swagger-ui/index.html", "/redoc"])
def test_a_page_shows_every_endpoint(api: Api, page: str, tmp_path: Path) -> None:
    document = api.json("/openapi.json")
    summaries = [
        operation["summary"] for path in document["paths"].values() for operation in path.values()
    ]
    assert len(summaries) >= 17
    text = shown(find_browser(), f"{api.url}/v1{page}", tmp_path)
    assert [summary for summary in summaries if summary not in text] == []
    assert {url for url in asked_for(tmp_path) if not url.startswith(api.url)} == set()
