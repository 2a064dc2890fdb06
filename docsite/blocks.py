"""Parts of pages that are made from code: `python -m docsite.blocks` writes them again.

It also writes the JSON schema of `lab.toml`.

A block stands between two comments, `<!-- made from code: NAME -->` and `<!-- end -->`, on a page
of `docs/` or in CONTRIBUTING.md. A test compares each with the code.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from docsite.container_table import containers_table
from docsite.docstrings import attributes, functions
from docsite.keys import aws_keys, keys
from docsite.lab_schema import lab_schema
from docsite.suites import suites_table
from labctl.errors import ExitCode
from labctl.scaffolding.project import SCHEMA_FILE
from labctl.testing import plugin
from release.licences import tables

__all__ = ["CONTRIBUTING", "DOCS", "with_blocks"]

DOCS = Path(__file__).parents[1] / "docs"
CONTRIBUTING = DOCS.parent / "CONTRIBUTING.md"
BLOCK = re.compile(r"(?<=<!-- made from code: )([a-z-]+)( -->\n\n).*?<!-- end -->", re.DOTALL)


def exit_codes() -> str:
    """Return the table of exit codes."""
    said = attributes(ExitCode)
    rows = (f"| {int(code)} | {' '.join(said[code.name].split())} |" for code in ExitCode)
    return "\n".join(("| code | meaning |", "| --- | --- |", *rows))


def fixtures() -> str:
    """Return the table of the pytest plugin's fixtures."""
    said = functions(Path(plugin.__file__))
    rows = (
        f"| `{name}` | {' '.join(said[name].split())} |" for name in said if name in plugin.__all__
    )
    return "\n".join(("| fixture | what it gives |", "| --- | --- |", *rows))


BLOCKS: dict[str, Callable[[], str]] = {
    "aws-keys": aws_keys,
    "containers": containers_table,
    "exit-codes": exit_codes,
    "fixtures": fixtures,
    "keys": keys,
    "licences-images": lambda: tables()["licences-images"],
    "licences-packages": lambda: tables()["licences-packages"],
    "licences-parts": lambda: tables()["licences-parts"],
    "licences-shipped": lambda: tables()["licences-shipped"],
    "suites": suites_table,
}


def with_blocks(text: str) -> str:
    """`text` with each of its blocks as the code says it today."""
    return BLOCK.sub(
        lambda match: f"{match[1]}{match[2]}{BLOCKS[match[1]]()}\n\n<!-- end -->", text
    )


if __name__ == "__main__":
    SCHEMA_FILE.write_text(lab_schema(), "utf-8")
    for page in [CONTRIBUTING, *sorted(DOCS.rglob("*.md"))]:
        text = page.read_text("utf-8")
        if (made := with_blocks(text)) != text:
            page.write_text(made, "utf-8")
            print(page)
