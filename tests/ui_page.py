"""`labctl ui` as a process, and a browser for its pages."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from labctl.lab.lab import Lab
from tests.browser import SILENT, find_browser

__all__ = ["DESKTOP", "PHONE", "SECONDS", "browser_of_pages", "served_page"]

SECONDS = 120.0
"""Seconds that something on a page may take on a slow machine."""
PHONE: ViewportSize = {"width": 390, "height": 844}
DESKTOP: ViewportSize = {"width": 1280, "height": 900}


@contextmanager
def served_page(lab: Lab) -> Iterator[tuple[str, psutil.Process]]:
    """The address that `labctl ui` prints, and its process, which must end well."""
    with subprocess.Popen(
        [sys.executable, "-m", "labctl", "--lab", lab.name, "ui"],
        cwd=lab.project,
        env={**os.environ, "LABCTL_PROFILE": lab.profile},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        yield process.stderr.readline().strip(), psutil.Process(process.pid)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=SECONDS)[1]
        assert "Traceback" not in said, said
        assert process.returncode == 0


@contextmanager
def browser_of_pages() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        program = playwright.chromium.launch(
            executable_path=find_browser(), args=["--no-sandbox", *SILENT]
        )
        yield program
        program.close()
