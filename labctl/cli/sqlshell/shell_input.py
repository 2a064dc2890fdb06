r"""Text as statements: each up to its `;`, or a command from a `\` to the end of its line."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Statement", "in_text", "is_complete", "split"]

_PARTS = re.compile(
    r"""
    (?P<comment> --[^\n]* | /\*.*?\*/ )
    # A ; in one of these ends nothing; what is not closed goes on to the end.
  | (?P<whole> '[^']*(?:'|\Z) | "[^"]*(?:"|\Z) | `[^`]*(?:`|\Z) | /\*.*\Z )
  | (?P<end> ; )
  | (?P<space> \s+ )
  | (?P<other> [^'"`;\s/-]+ | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_COMMAND = re.compile(r"\\[^\n]*")


@dataclass(frozen=True)
class Statement:
    """A statement without its `;`, or a command."""

    text: str
    line: int
    """Line where it begins, from 1."""
    ended: bool = True
    """True if its `;` was there; a command needs none."""

    @property
    def is_command(self) -> bool:
        return self.text.startswith("\\")


def split(text: str) -> Iterator[Statement]:
    """Split `text` into its statements. Comments between them belong to none."""
    place, begin = 0, None
    while place < len(text):
        if begin is None and (command := _COMMAND.match(text, place)):
            yield Statement(command[0].strip(), _line(text, place))
            place = command.end()
            continue
        part = _PARTS.match(text, place)
        assert part is not None  # noqa: S101 - its last alternative takes any character
        if part.lastgroup == "end":
            if begin is not None:
                yield Statement(text[begin:place].strip(), _line(text, begin))
            begin = None
        elif begin is None and part.lastgroup in ("whole", "other"):
            begin = place
        place = part.end()
    if begin is not None:
        yield Statement(text[begin:].strip(), _line(text, begin), ended=False)


def is_complete(text: str) -> bool:
    """Return whether every statement in `text` has ended with its `;`."""
    return all(statement.ended for statement in split(text))


def in_text(text: str) -> bool:
    """Return whether `text` ends within a literal or a comment."""
    parts = [*_PARTS.finditer(text)]
    if not parts:
        return False
    last = parts[-1][0]
    if parts[-1].lastgroup == "comment":
        return last.startswith("--")
    return parts[-1].lastgroup == "whole" and last[0] in "'/" and (last == "'" or last[-1] != "'")


def _line(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1
