"""Links in Markdown: which there are, whether they lead somewhere, and moving them with a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

__all__ = ["Link", "anchors", "broken_links", "code_of", "links", "prose_of", "relinked"]

FENCE = re.compile(r"^( *)(```+|~~~+).*?^\1\2[`~]*$\n?", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n)(?:\n|#.*\n)(?: {4}.*\n|\n(?= {4}))+")
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.DOTALL)
LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)>\s]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6} +(.+?)(?: +#+)?$", re.MULTILINE)


class Link(NamedTuple):
    """Link of a page."""

    line: int
    target: str


def prose_of(text: str) -> str:
    """`text` with all code blanked out, so that every character keeps its line and column."""
    for pattern in (FENCE, INDENTED, CODE):
        text = pattern.sub(_blank, text)
    return text


def _blank(match: re.Match[str]) -> str:
    """White space instead of code. A heading in front of it stays."""
    heading = re.match(r"#.*\n", match[0])
    kept = heading[0] if heading else ""
    return kept + re.sub(r"[^\n]", " ", match[0][len(kept) :])


def code_of(text: str) -> str:
    """Return only the code of `text`; the rest is blanked out."""
    pairs = zip(text, prose_of(text), strict=True)
    return "".join(" " if one == prose and one != "\n" else one for one, prose in pairs)


def links(text: str) -> Iterator[Link]:
    """Yield links and pictures of a Markdown text, outside code. Web addresses too."""
    prose = prose_of(text)
    for match in LINK.finditer(prose):
        yield Link(prose.count("\n", 0, match.start()) + 1, match[1])


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    text = page.read_text("utf-8")
    visible = FENCE.sub("", text)
    found: list[str] = []
    for heading in HEADING.findall(visible):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", words.lower()).strip().replace(" ", "-")
        found.append(slug if slug not in found else f"{slug}-{found.count(slug)}")
    return frozenset(found)


def broken_links(page: Path, root: Path) -> list[str]:
    """Yield the faults of `page`'s links, each with its line. Web addresses are not asked."""
    wrong = []
    for line, target in links(page.read_text("utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            wrong.append(f"{page.relative_to(root)}:{line}: there is no {target}")
        elif anchor and path.suffix == ".md" and anchor not in anchors(path):
            wrong.append(f"{page.relative_to(root)}:{line}: there is no heading for {target}")
    return wrong


def relinked(text: str, moved: Callable[[str], str]) -> str:
    """`text` with `moved(target)` instead of each link's target; code stays as it is."""
    prose = prose_of(text)
    pieces, at = [], 0
    for match in LINK.finditer(prose):
        start, end = match.span(1)
        pieces += [text[at:start], moved(match[1])]
        at = end
    return "".join((*pieces, text[at:]))
