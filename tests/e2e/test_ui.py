"""The page of `labctl ui` in a real browser: every page, live, and by keyboard."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect

from labctl.lab.lab import Lab
from labctl.lake import Lake
from labctl.sources import connect
from labctl.testing.eventually import Eventually
from labctl.ui.rendering import PAGES
from tests.e2e.conftest import Labctl
from tests.ui_page import DESKTOP, PHONE, SECONDS, browser_of_pages, served_page

LOOKS: tuple[tuple[Literal["light", "dark"], ViewportSize], ...] = (
    ("light", DESKTOP),
    ("dark", PHONE),
)


@dataclass
class Shown:
    """A page in the browser, and what went wrong on it."""

    page: Page
    base: str
    wrong: list[str] = field(default_factory=list)

    def go(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page


@pytest.fixture(scope="module")
def link(lab: Lab) -> Iterator[str]:
    """The address that `labctl ui` prints."""
    with served_page(lab) as (address, _):
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browser_of_pages() as program:
        yield program


@pytest.fixture
def shown(browser: Browser, link: str) -> Iterator[Shown]:
    """A page on a desktop's screen. It must ask nobody but this machine, and have no error."""
    parts = urlsplit(link)
    context = browser.new_context(viewport=DESKTOP, bypass_csp=False)
    page = context.new_page()
    page.set_default_timeout(SECONDS * 1000)
    one = Shown(page, f"{parts.scheme}://{parts.netloc}")
    page.on("pageerror", lambda error: one.wrong.append(f"{error}"))
    page.on("console", lambda m: one.wrong.append(m.text) if m.type == "error" else None)
    page.on(
        "request",
        lambda r: None if r.url.startswith((one.base, "data:")) else one.wrong.append(r.url),
    )
    page.goto(link)
    yield one
    context.close()
    assert one.wrong == []


def key_and_text(lab: Lab) -> tuple[int, int]:
    with connect(lab.endpoints, "mysql") as source:
        ((key, quantity),) = source.execute("SELECT salesid, qtysold FROM sale ORDER BY 1 LIMIT 1")
    return key, quantity


def test_every_page_can_be_read_by_all_and_on_a_phone(
    browser: Browser, link: str, lab: Lab
) -> None:
    table = next(one.name for one in lab.tables if one.name.endswith(".sale"))
    key, _ = key_and_text(lab)
    row = f"/change?table={table}&key.salesid={key}"
    topic, connector = lab.table(table).topic, lab.config.sources["mysql"].connector
    paths = [*(path for path, _ in PAGES.values()), f"/tables/{table}", row, "/services/silver"]
    paths += [f"/topics/{topic}", f"/connectors/{connector}"]
    # The checks are a script of their own, which the page's policy would keep out.
    for scheme, size in LOOKS:
        context = browser.new_context(
            viewport=size,
            color_scheme=scheme,
            bypass_csp=True,
        )
        page = context.new_page()
        page.set_default_timeout(SECONDS * 1000)
        page.goto(link)
        for path in paths:
            page.goto(link.partition("/?")[0] + path)
            expect(page.locator(".quiet", has_text="…")).to_have_count(0, timeout=SECONDS * 1000)
            found = Axe().run(page)
            assert found.violations_count == 0, f"{path} {scheme}: {found.generate_report()}"
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= size["width"], f"{path} is {wide} pixels wide"
        context.close()


def test_a_change_is_followed_in_three_clicks(shown: Shown, lab: Lab) -> None:
    page = shown.page
    page.get_by_role("link", name="Follow a change").click()
    button = page.get_by_role("button", name="Change it at")
    column = page.locator("select[name=column]").input_value()
    value = page.locator("input[name=value]").input_value()
    button.click()
    expect(page.get_by_text("The change arrived")).to_be_visible(timeout=SECONDS * 1000)
    states = page.locator("li[data-station]").evaluate_all(
        "all => all.map(one => [one.dataset.station, one.dataset.state])"
    )
    assert states == [[name, "current"] for name in ("source", "topic", "bronze", "silver")]
    traced = page.locator("code", has_text=" trace ").inner_text().split()
    name, _, key = traced[traced.index("--where") + 1].partition("=")
    table = traced[traced.index("trace") + 1]
    sql = f"SELECT {column} FROM {table} WHERE {name} = {key}"
    assert str(Lake(lab.endpoints.objectstore).query(sql)[0][0].as_py()) == value


def test_the_sliders_rows_are_those_of_the_query_it_names(
    shown: Shown, lab: Lab, labctl: Labctl, eventually: Eventually
) -> None:
    key, quantity = key_and_text(lab)
    lake = Lake(lab.endpoints.objectstore)
    table = lake.table("sale").name
    with connect(lab.endpoints, "mysql") as source:
        source.execute(f"UPDATE sale SET qtysold = {quantity + 1} WHERE salesid = {key}")
    sql = f"SELECT qtysold FROM sale WHERE salesid = {key}"
    eventually(
        lambda: lake.query(sql)[0][0].as_py() == quantity + 1, row=("sale", {"salesid": key})
    )
    page = shown.go(f"/tables/{table}")
    expect(page.get_by_text("rows now")).to_be_visible()
    page.locator("input[name=where]").fill(f"salesid <= {key}")
    page.locator("input[type=range]").focus()
    # The last place is the present, the one before it the last commit: that of the change.
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.locator("td.changed", has_text=f"now {quantity + 1}")).to_be_visible()
    command = page.locator("code", has_text="--as-of").inner_text()
    as_of = command.rpartition(" ")[2]
    said = labctl("query", f"{sql}", "--as-of", as_of, "--lab", lab.name, "-o", "json")
    ((then,),) = (row.values() for row in json.loads(said.stdout)["rows"])
    assert page.locator("td.changed").inner_text().split() == [f"{then}", "now", f"{quantity + 1}"]


def test_sql_is_completed_run_and_handed_out(shown: Shown) -> None:
    page = shown.go("/query")
    editor = page.locator("textarea")
    editor.press_sequentially("SELECT count(*) AS n FROM tickit.cat")
    expect(page.locator("#completion")).to_contain_text("tickit.category")
    editor.press("Control+Space")
    editor.press("Control+Enter")
    expect(page.locator("#answer tbody td")).to_have_text("11")
    with page.expect_download() as file:
        page.get_by_role("link", name="CSV").click()
    assert Path(file.value.path()).read_text() == "n\n11\n"
    editor.fill("SELECT nothing FROM nowhere")
    editor.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("nowhere")


def test_a_topics_records_are_shown_live_and_from_a_place(shown: Shown, lab: Lab) -> None:
    key, quantity = key_and_text(lab)
    topic = lab.table("sale").topic
    page = shown.go("/topics")
    page.get_by_role("link", name=topic, exact=True).click()
    page.get_by_label("live").check()
    newest = page.locator("#records tbody tr").first
    before = newest.get_by_role("rowheader").inner_text()
    with connect(lab.endpoints, "mysql") as source:
        source.execute(f"UPDATE sale SET qtysold = {quantity + 1} WHERE salesid = {key}")
    head = newest.get_by_role("rowheader")
    expect(head).not_to_have_text(before, timeout=SECONDS * 1000)
    expect(newest).to_contain_text(f"salesid {key}")
    place = head.inner_text()
    page.get_by_label("from", exact=True).fill(place)
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#records")).to_contain_text(f"from {place} on")
    expect(page.locator("#records tbody tr")).to_have_count(1)
    expect(page.locator("#schemas")).to_contain_text("version")
    expect(page.locator("#letters")).to_contain_text("took every record")


def test_a_connector_is_restarted_and_shows_its_settings_without_secrets(
    shown: Shown, lab: Lab
) -> None:
    name = lab.config.sources["mysql"].connector
    page = shown.go("/connectors")
    page.get_by_role("link", name=name).click()
    expect(page.locator("#connector")).to_contain_text("${secretManager:demo/mysql:password}")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Restart").click()
    expect(page.locator("#done")).to_contain_text("was restarted", timeout=SECONDS * 1000)
    expect(page.locator("#connector .pill")).to_have_text("RUNNING")


def test_a_snapshot_is_saved_and_deleted(shown: Shown) -> None:
    page = shown.go("/snapshots")
    page.get_by_label("name", exact=True).fill("of-the-page")
    page.get_by_role("button", name="Save").click()
    kept = page.get_by_role("rowheader", name="of-the-page")
    expect(kept).to_be_visible(timeout=SECONDS * 1000)
    expect(page.get_by_role("status")).to_have_text("of-the-page was saved.")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Delete of-the-page").click()
    expect(kept).to_have_count(0, timeout=SECONDS * 1000)


def test_a_killed_service_turns_red_and_comes_back(shown: Shown, eventually: Eventually) -> None:
    shown.go("/faults")
    box = shown.page.locator("#box-registry")
    expect(box).to_have_attribute("data-state", "ready", timeout=SECONDS * 1000)
    shown.page.evaluate(
        """() => {
          const seen = [];
          window.seen = seen;
          new MutationObserver(() => {
            const state = document.querySelector("#box-registry").dataset.state;
            if (seen.at(-1) !== state) seen.push(state);
          }).observe(document.body, {subtree: true, childList: true, attributes: true});
        }"""
    )
    shown.page.locator("select[name=kind]").select_option("kill")
    shown.page.locator("select[name=service]").select_option("registry")
    shown.page.once("dialog", lambda dialog: dialog.accept())
    shown.page.get_by_role("button", name="Cause it").click()
    expect(shown.page.locator("#caused")).to_have_text(
        "kill registry: over.", timeout=SECONDS * 1000
    )
    expect(box).to_have_attribute("data-state", "ready", timeout=SECONDS * 1000)
    eventually(
        lambda: "down" in (seen := shown.page.evaluate("window.seen")) and seen[-1] == "ready"
    )
