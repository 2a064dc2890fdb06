"""A lake of one format: only `sqlapi.hudi` knows Hudi's files, columns and reader."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from labctl.engine_names import FOLDER
from tests.unit.test_engine_names import without_docstrings, words

REPOSITORY = FOLDER.parent.parent
FORMAT = "sqlapi/hudi/"
KNOWLEDGE = re.compile(r"\.hoodie\b|_hoodie_|hoodie\.|(delta|replace)commit|org\.apache\.hudi")
WRITER = "properties of the writer, which users have in their files"
ELSEWHERE = {
    "labctl/config/aws.py": WRITER,
    "labctl/conformance/odd_names.py": "names of columns that a source's table may have",
    "labctl/conformance/row_comparison.py": "reads silver independently of all other readers",
    "labctl/importing/": WRITER,
    "labctl/lake/spark_queries.py": "options of Hudi's own reader in Spark",
    "labctl/latency/shadow_tables.py": WRITER,
    "labctl/promote/": WRITER,
    "labctl/scaffolding/properties.py": WRITER,
    "sqlapi/workers/preload.py": "imports the reader before workers are forked",
}
"""Modules and folders that may know Hudi, each with its reason."""
OPENING = {"labctl/lake/silver_table.py", "sqlapi/sources/bucket.py"}
"""Modules that open tables. All others use `sqlapi.table_format`."""
OPENERS = {"sqlapi.hudi.opened": "Opened", "sqlapi.hudi.hudi_table": "HudiTable"}


def modules() -> Iterator[str]:
    for package in ("labctl", "lakeapi", "sqlapi"):
        for path in sorted((REPOSITORY / package).rglob("*.py")):
            name = path.relative_to(REPOSITORY).as_posix()
            if not name.startswith(FORMAT):
                yield name


def parsed(name: str) -> ast.Module:
    return ast.parse((REPOSITORY / name).read_text(encoding="utf-8"))


def known(name: str) -> list[str]:
    """What a module knows of Hudi."""
    tree = parsed(name)
    found = [
        f"line {getattr(node, 'lineno', '?')}: {word!r:.80}"
        for node in without_docstrings(tree)
        for word in words(node)
        if KNOWLEDGE.search(word)
    ]
    for node in ast.walk(tree):
        of = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            of = [node.module or ""]
        found += [f"imports {one}" for one in of if one.partition(".")[0] == "hudi"]
    return found


@pytest.mark.parametrize(
    "name", [one for one in modules() if not any(one.startswith(e) for e in ELSEWHERE)]
)
def test_a_module_does_not_know_hudi(name: str) -> None:
    assert not known(name), "ask sqlapi.hudi, by the names of sqlapi.table_format"


@pytest.mark.parametrize("place", ELSEWHERE)
def test_an_exemption_is_needed(place: str) -> None:
    assert any(known(name) for name in modules() if name.startswith(place))


def test_two_modules_open_tables() -> None:
    opening = {
        name
        for name in modules()
        if "sqlapi.hudi" in (REPOSITORY / name).read_text(encoding="utf-8")
        for node in ast.walk(parsed(name))
        if isinstance(node, ast.ImportFrom)
        and OPENERS.get(node.module or "") in {one.name for one in node.names}
    }
    assert opening == OPENING


def test_a_lake_of_another_format_could_be_read_by_the_same_names() -> None:
    """The interface itself imports nothing of Hudi."""
    imports = [
        node.module or ""
        for node in ast.walk(parsed("sqlapi/table_format.py"))
        if isinstance(node, ast.ImportFrom)
    ]
    assert not [one for one in imports if "hudi" in one]
