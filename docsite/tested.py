"""Blocks of commands in the pages that are marked as tested, which `tests/e2e/test_docs.py` runs.

A mark is a comment on a line of its own before the block, `<!-- tested on a lab -->`, or
`<!-- tested on a lab: exit 2 -->` where the last command is to fail with that code. The block is
indented or fenced. In one with lines that begin with `$ `, those are the commands and the others
their output, which is not compared. A variable that such a line sets, `C="a, b"`, is set in the
marked blocks further down the page, too.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

__all__ = ["Block", "marked_blocks"]

_MARK = re.compile(r"^<!-- tested on a lab(?P<more>.*?)-->[ \t]*\n", re.MULTILINE)
_EXIT = re.compile(r"(?:: exit (\d+))? ")
_FENCED = re.compile(r"\n?```[a-z]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"^[A-Z][A-Z_]*=.*\n", re.MULTILINE)
_INDENTED = re.compile(r"\n?((?:(?: {4}.*)?\n)+)")


class Block(NamedTuple):
    """Commands of a page."""

    page: Path
    line: int
    """Line of its mark."""
    script: str
    """Commands for a shell, one after the other."""
    exit_code: int


def marked_blocks(page: Path) -> list[Block]:
    """Return the marked blocks of `page`, in their order.

    Raises ValueError, with page and line, for a mark that cannot be read or has no block.
    """
    text = page.read_text("utf-8")
    blocks: list[Block] = []
    variables = ""
    for mark in _MARK.finditer(text):
        block = _block(page, text, mark)
        blocks.append(block._replace(script=variables + block.script))
        variables += "".join(_VARIABLE.findall(block.script))
    return blocks


def _block(page: Path, text: str, mark: re.Match[str]) -> Block:
    line = text.count("\n", 0, mark.start()) + 1
    said = _EXIT.fullmatch(mark["more"])
    if said is None:
        raise ValueError(f"{page}:{line}: a mark is 'tested on a lab' or 'tested on a lab: exit N'")
    found = _FENCED.match(text, mark.end()) or _INDENTED.match(text, mark.end())
    lines = dedent(found[1]).strip("\n").splitlines() if found else []
    commands = list(_typed(lines)) if any(one.startswith("$ ") for one in lines) else lines
    if not commands:
        raise ValueError(f"{page}:{line}: no block of commands follows the mark")
    return Block(page, line, "\n".join(commands) + "\n", int(said[1] or 0))


def _typed(lines: Sequence[str]) -> Iterator[str]:
    """Return the text after `$ `, with its further lines: an open quote, or `\\`."""
    typed: str | None = None
    for line in lines:
        if typed is not None:
            typed += f"\n{line}"
        elif line.startswith("$ "):
            typed = line.removeprefix("$ ")
        if typed is not None and _is_complete(typed):
            yield typed
            typed = None
    if typed is not None:
        yield typed


def _is_complete(typed: str) -> bool:
    try:
        shlex.split(typed, comments=True)
    except ValueError:
        return False
    return not typed.endswith("\\")
