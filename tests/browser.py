"""A real browser, where the machine has one, that reaches nothing but this machine."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

__all__ = ["SILENT", "asked_for", "find_browser", "shown"]

BROWSERS = ("chromium", "chromium-headless-shell", "google-chrome")
SECONDS = 120.0
SILENT = (
    # What a browser asks for by itself, as far as there are flags against it.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-features=NetworkTimeServiceQuerying",
    "--disable-sync",
    "--no-first-run",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)
_ITS_MAKERS = ("google.com", "googleapis.com")
"""Whom it asks for updates, the time and accounts. There is no flag against all of it."""
_OF_PAGES = ("ajax.", "fonts.")
"""What a page may want of them."""


def find_browser() -> str:
    """Its path. Skips the test where there is none."""
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip(
            f"no browser: none of {', '.join(BROWSERS)} is on the PATH; "
            "apt-get install chromium-headless-shell"
        )
    return found


def shown(browser: str, url: str, folder: Path) -> str:
    """A page as it is once its scripts have run; `asked_for` tells what was asked for meanwhile."""
    done = subprocess.run(
        [
            browser,
            *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"),
            *SILENT,
            f"--user-data-dir={folder / 'profile'}",
            f"--log-net-log={folder / 'net.json'}",
            "--enable-logging=stderr",
            *("--virtual-time-budget=10000", "--dump-dom", url),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Uncaught" not in done.stderr, done.stderr[-2000:]
    return done.stdout


def asked_for(folder: Path) -> set[str]:
    """The addresses that the page of `shown` asked for over HTTP.

    Not those that Chromium looks for on its own behalf, and does not find.
    """
    log = (folder / "net.json").read_text(errors="replace")
    found = set(re.findall(r'"url":"(https?://[^"]+)"', log))
    hosts = {url: urlsplit(url).hostname or "" for url in found}
    return {
        url
        for url, host in hosts.items()
        if host.startswith(_OF_PAGES) or not host.endswith(_ITS_MAKERS)
    }
