"""The pictures of the page, of a seeded lab: `python -m tests.e2e.ui_pictures LAB`."""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import Page, expect

from labctl.lab.lab import Lab
from tests.ui_page import DESKTOP, SECONDS, browser_of_pages, served_page

FOLDER = Path(__file__).parents[2] / "docs" / "images"


def take(lab: Lab, folder: Path) -> None:
    with served_page(lab) as (link, _), browser_of_pages() as browser:
        page = browser.new_page(viewport={**DESKTOP, "height": 480})
        page.set_default_timeout(SECONDS * 1000)
        page.goto(link)
        page.locator("tr time").first.wait_for()
        _keep(page, folder / "ui-pipeline.png")
        page.get_by_role("link", name="Follow a change").click()
        page.get_by_role("button", name="Change it at").click()
        expect(page.get_by_text("The change arrived")).to_be_visible(timeout=SECONDS * 1000)
        _keep(page, folder / "ui-change.png")
        page.get_by_role("link", name="Tables").click()
        page.get_by_role("link", name="tickit.sale").click()
        page.get_by_text("rows now").wait_for()
        page.locator("input[name=where]").fill("salesid BETWEEN 198 AND 203")
        page.locator("input[type=range]").focus()
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        page.locator("td.changed").wait_for()
        _keep(page, folder / "ui-table.png")
        page.get_by_role("link", name="Topics").click()
        page.get_by_role("link", name="tickit.ecomm.sale").click()
        page.get_by_label("from", exact=True).fill("0:100")
        page.get_by_role("button", name="Show").click()
        page.get_by_text("from 0:100 on").wait_for()
        page.locator("#schemas td").first.wait_for()
        # The window alone: fifty records are long.
        _keep(page, folder / "ui-topic.png", whole=False)


def _keep(page: Page, file: Path, *, whole: bool = True) -> None:
    """Keep the page as far as it has something, without the rest of the window."""
    page.mouse.move(0, 0)
    page.screenshot(path=file, full_page=whole)
    print(file)


if __name__ == "__main__":
    take(Lab.find(name=sys.argv[1]), FOLDER)
