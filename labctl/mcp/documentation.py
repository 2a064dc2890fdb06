"""Search in labctl's own documentation, which the wheel has, too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from labctl.shipped import shipped

__all__ = ["search"]

_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^#{1,4} +(.+)$", re.MULTILINE)
_MOST_CHARACTERS = 3000


class _Passage(NamedTuple):
    page: str
    heading: str
    text: str

    @property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(f"{self.page} {self.heading} {self.text}".lower()))


def search(words: str, most: int) -> list[dict[str, str]]:
    """Return the passages with most of the words, the best first; none that has no word.

    Words of a heading count three times. Of two passages that are equally good, the shorter one
    comes first.
    """
    wanted = frozenset(_WORD.findall(words.lower()))

    def points(passage: _Passage) -> int:
        in_heading = wanted & {*_WORD.findall(passage.heading.lower())}
        return len(wanted & passage.words) + 2 * len(in_heading)

    found = [passage for passage in _passages() if points(passage)]
    found.sort(key=lambda passage: (-points(passage), len(passage.text)))
    return [
        {"page": one.page, "heading": one.heading, "text": one.text[:_MOST_CHARACTERS]}
        for one in found[:most]
    ]


@cache
def _passages() -> tuple[_Passage, ...]:
    return tuple(_all_passages())


def _all_passages() -> Iterator[_Passage]:
    for page in sorted(shipped("docs").glob("*.md")):
        _, *parts = _HEADING.split(page.read_text("utf-8"))
        for heading, text in zip(parts[::2], parts[1::2], strict=True):
            yield _Passage(page.name, heading, text.strip())
