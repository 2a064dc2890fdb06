"""The page of a lab that does not run, with a client in the browser's place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from starlette.testclient import TestClient

from labctl.command_process import LabCommand
from labctl.config.lab_config import find_project
from labctl.ui.lake_workers import LabAddress, LakeWorkers
from labctl.ui.page_context import PageContext
from labctl.ui.ui_application import ui_application

__all__ = ["NAME", "OWN_PAGE", "PORT", "TOKEN", "page_client"]

PORT = 8765
NAME = "never-started"
TOKEN = "right"  # noqa: S105 - of the test
OWN_PAGE = {"Origin": f"http://127.0.0.1:{PORT}"}
"""The header that a browser sends with a form of the page."""


@contextmanager
def page_client(*, is_read_only: bool = False, with_cookie: bool = True) -> Iterator[TestClient]:
    address = LabAddress(find_project(None), NAME)
    context = PageContext(
        address,
        LakeWorkers(address),
        LabCommand(address.project, ("--lab=never-started",)),
        lambda text: text,
        is_read_only,
    )
    application = ui_application(context, lab_name=address.name, port=PORT, token=TOKEN)
    base = f"http://127.0.0.1:{PORT}"
    with TestClient(application, base_url=base, follow_redirects=False) as client:
        if with_cookie:
            assert client.get("/", params={"token": TOKEN}).status_code == 303
        yield client
