"""The API's pages in a real browser, which reaches nothing but this machine."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.lakeapi.conftest import Api

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
PAINTED_MS = 20_000
"""Of the browser's own time, which passes at once while the page waits for nothing."""
WAIT_SECONDS = 120

pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium on the PATH")


def shown(url: str, profile: Path) -> str:
    """A page's document once its scripts have run."""
    assert BROWSER is not None
    done = subprocess.run(
        [
            BROWSER,
            *("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}"),
            *("--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--no-first-run"),
            *(f"--virtual-time-budget={PAINTED_MS}", "--dump-dom", url),
        ],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize("page", ["/swagger-ui/index.html", "/redoc"])
def test_a_page_shows_every_endpoint(api: Api, page: str, tmp_path: Path) -> None:
    document = api.json("/openapi.json")
    summaries = [
        operation["summary"] for path in document["paths"].values() for operation in path.values()
    ]
    assert len(summaries) >= 17
    text = shown(f"{api.url}/v1{page}", tmp_path)
    assert [summary for summary in summaries if summary not in text] == []
