"""The pages hang together: links lead somewhere, commands exist, prose is short."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docsite.commands import is_command
from docsite.links import broken_links, code_of, prose_of

ROOT = Path(__file__).parents[2]
PAGES = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/README.md")))
PROSE = [page for page in PAGES if page.name != "CHANGELOG.md"]
"""The changelog is a list, and grows."""
COMMAND = re.compile(
    r"(?<![\w./-])labctl(?: --(?:lab|profile|output) \S+)* ([a-z][a-z-]*)"
    r"(?: ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?)?\b"
)
TWO_SCREENS = 700
"""Words."""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_and_anchors_lead_somewhere(page: Path) -> None:
    assert broken_links(page, ROOT) == []


def test_a_broken_link_and_a_broken_anchor_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A page\n\n[a](#a-page) [b](#b) [c](other.md)\n\n    [d](code.md)\n")
    assert broken_links(page, tmp_path) == [
        "page.md:3: there is no heading for #b",
        "page.md:3: there is no other.md",
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_command_that_a_page_names_exists(page: Path) -> None:
    code = code_of(page.read_text())
    named = {match.groups() for match in COMMAND.finditer(code)}
    assert {one for one in named if not is_command(*one)} == set()


def test_a_command_that_does_not_exist_is_found() -> None:
    assert is_command("up", "kafka")
    assert is_command("table", "add")
    assert is_command("test", "latency", "run")
    assert not is_command("table", "grow")
    assert not is_command("test", "latency", "grow")
    assert not is_command("start", None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_list_is_set_apart_from_the_paragraph_before_it(page: Path) -> None:
    """The site would show it as part of the paragraph, GitHub as a list."""
    prose = prose_of(page.read_text())
    assert re.findall(r"^(?![-#|\d ]).*\S.*\n(?:- |\d+\. ).*$", prose, re.MULTILINE) == []


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_prose_is_longer_than_two_screens(page: Path) -> None:
    """Without a table, a picture or an example between."""
    assert max(map(_words, _prose(page.read_text())), default=0) <= TWO_SCREENS


def _prose(text: str) -> Iterator[str]:
    """The pieces of a page between tables, pictures and code blocks."""
    shown = re.compile(r"^```.*?^```$|^\|.*$|^!\[.*$|^ {4}.*$", re.MULTILINE | re.DOTALL)
    yield from shown.split(text)


def _words(piece: str) -> int:
    return len(piece.split())
