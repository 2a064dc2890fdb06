"""A linter of English: `python -m docsite.prose` checks every text that a person reads.

proselint's own checks run over the pages. The words of `words.toml` are also looked up in what
stands in the code: help, messages, docstrings and comments. A function's docstring begins with a
verb.
"""

from __future__ import annotations

import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

from proselint.checks import __register__ as theirs
from proselint.config import DEFAULT, Config
from proselint.registry import CheckRegistry
from proselint.registry.checks import Check, CheckFlags
from proselint.registry.checks.types import PreferredForms
from proselint.tools import LintFile

from docsite.first_words import first_words, words_before_nouns
from docsite.links import LINK, prose_of

__all__ = ["findings", "in_code", "in_comments", "in_pages"]

ROOT = Path(__file__).parents[1]
WORDS = Path(__file__).with_name("words.toml")
MARKDOWN = (".md",)
PYTHON = (".py",)
COMMENTED = (".properties", ".sh", ".toml", ".yaml", ".yml")
OTHERS = ("Makefile", "Dockerfile")
NOT_OURS = (
    "tests/unit/older_files/",
    "docs/benchmarks/",
    "docsite/words.toml",
    "tests/unit/test_prose.py",
)
"""Files written as someone else would have, figures, and the list itself."""
TESTS = "tests/"
"""Their docstrings say what holds, not what they do."""
PROJECT = "project.words"
NAMES = re.compile(r"`[^`\n]*`|\{[^{}\n]*\}")
"""Code within what is said."""
REPEATS = ("lexical_illusions",)
"""Words that are there twice. A heading and its text are no such case, nor are figures."""
OFF = (
    "typography.symbols.curly_quotes",
    "typography.symbols.sentence_spacing",  # comments in columns
    "redundancy.misc.after_the_deadline",  # "point in time" is the field's word
    "weasel_words.very",
)


def in_pages(text: str) -> str:
    """Return a page's words. Code and the targets of links are blanked out."""
    blank = LINK.sub(lambda match: match[0].replace(match[1], " " * len(match[1])), text)
    prose = prose_of(blank)
    pairs = zip(text, prose, strict=True)
    kept = (old if new == old or old.isspace() or old == "`" else new for old, new in pairs)
    return "".join(kept)


def in_code(text: str) -> str:
    """Return a Python file's comments and strings."""
    lines = [[" "] * len(line) for line in text.splitlines()]
    source = text.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in (tokenize.COMMENT, tokenize.STRING):
            continue
        (row, column), (end_row, end_column) = token.start, token.end
        for number in range(row - 1, end_row):
            first = column if number == row - 1 else 0
            last = end_column if number == end_row - 1 else len(source[number])
            lines[number][first:last] = source[number][first:last]
    said = "\n".join("".join(line) for line in lines) + "\n"
    return NAMES.sub(lambda match: re.sub(r"[^\n]", "X", match[0]), said)


def in_comments(text: str) -> str:
    """Return the comments of a file in which `#` begins one."""
    return "".join(
        f"{match[1]}\n" if (match := re.search(r"(?:^|\s)(#.*)$", line)) else "\n"
        for line in text.splitlines()
    )


def findings(name: str, text: str) -> Iterator[str]:
    """Yield the faults in the English of a file, each with its line."""
    path = Path(name)
    if path.suffix in MARKDOWN:
        yield from _linted(name, in_pages(text), _checks(DEFAULT["checks"]))
    elif path.suffix in PYTHON:
        yield from _linted(name, in_code(text), {PROJECT: True})
        if not name.startswith(TESTS):
            for line, word in first_words(text):
                yield f"{name}:{line}: {word!r}: begin a function's docstring with a verb"
            for line, word in words_before_nouns(text):
                yield f"{name}:{line}: {word!r}: begin the docstring with a noun"
    elif path.suffix in COMMENTED or path.name in OTHERS:
        yield from _linted(name, in_comments(text), {PROJECT: True})


def _checks(wanted: dict[str, bool]) -> dict[str, bool]:
    """Return checks by name, the most specific first, as proselint asks for them."""
    return dict.fromkeys(OFF, False) | {PROJECT: True} | wanted


def _linted(name: str, text: str, checks: dict[str, bool]) -> Iterator[str]:
    file = LintFile(name, text)
    for result in file.lint(Config(max_errors=10_000, checks=checks)):
        begin, end = result.check_result.span
        words = file.content[begin:end].strip()
        if result.check_result.check_path in REPEATS and re.search(r"[\n\d]", words):
            continue
        yield f"{name}:{result.pos[0]}: {words!r}: {result.check_result.message}"


def _register() -> None:
    words = tomllib.loads(WORDS.read_text("utf-8"))["words"]
    ours = Check(
        PreferredForms({known.replace(" ", r"\s+"): better for known, better in words.items()}),
        path=PROJECT,
        message="write: {}",
        flags=CheckFlags(allow_quotes=True),
    )
    CheckRegistry().register_many((*theirs, ours))


_register()


def _files(names: Iterable[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        path = ROOT / name
        if not name.startswith(NOT_OURS) and path.is_file():
            known = path.suffix in (*MARKDOWN, *PYTHON, *COMMENTED) or path.name in OTHERS
            if known:
                yield name, path.read_text("utf-8")


def main(names: list[str]) -> int:
    """Check the files that git knows, or those that are named; 1 if there is something to fix."""
    if not names:
        git = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(git, cwd=ROOT, capture_output=True, text=True, check=True)
        names = listed.stdout.splitlines()
    found = [one for name, text in _files(names) for one in findings(name, text)]
    print(*found, sep="\n", end="\n" if found else "")
    print(
        f"{len(found)} findings of the prose linter" if found else "The prose linter found nothing"
    )
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
