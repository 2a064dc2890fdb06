"""The tests of each suite, read from their markers."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import TypeGuard

__all__ = ["SUITES", "suites_of", "suites_table"]

SUITES = {"": "make test", "long": "make test-long", "soak": "make soak"}
"""The command of each suite by the marker of its tests; where a test has several, the last counts.
"""
_NAMES = {f"pytest.mark.{marker}" for marker in SUITES}
_TESTS = Path(__file__).parents[1] / "tests"


def suites_table() -> str:
    """Return the table of folders and files of tests, by suite.

    A folder whose tests are all in one suite is one row.
    """
    by_file = {
        file.relative_to(_TESTS.parent): tuple(suites_of(file.read_text("utf-8")))
        for file in sorted(_TESTS.rglob("test_*.py"))
    }
    rows = [("tests", *(f"`{command}`" for command in SUITES.values())), ("---",) * 4]
    for path, counts in _folded(by_file, Path("tests")):
        rows.append((f"`{path}`", *(_cell(counts, suite) for suite in SUITES)))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def suites_of(source: str) -> list[set[str]]:
    """Return the suites of each test of a module: several where its parameters have markers.

    A marker in something that tests share, such as a fixture's parameters, counts for all of them.
    """
    tree = ast.parse(source)
    of_module = {m for node in tree.body if _is_pytestmark(node) for m in _markers(node)}
    tests = [node for node in tree.body if _is_test(node)]
    shared = {
        marker
        for node in tree.body
        if not _is_pytestmark(node) and not _is_test(node)
        for marker in _markers(node)
    }
    suites: list[set[str]] = []
    for test in tests:
        own = [d for d in test.decorator_list if isinstance(d, ast.Attribute)]
        always = of_module | {m for decorator in own for m in _markers(decorator)}
        some = shared | {m for decorator in test.decorator_list for m in _markers(decorator)}
        suites.append({_suite(always), *(_suite(always | {m}) for m in some)})
    return suites


def _is_test(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


def _suite(markers: set[str]) -> str:
    return max(markers | {""}, key=list(SUITES).index)


def _is_pytestmark(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign) and any(
        isinstance(target, ast.Name) and target.id == "pytestmark" for target in node.targets
    )


def _markers(node: ast.AST) -> Iterator[str]:
    """Yield the suites' markers that an expression names: `pytest.mark.long`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Attribute) and ast.unparse(part) in _NAMES:
            yield part.attr


Counts = tuple[set[str], ...]


def _folded(by_file: dict[Path, Counts], folder: Path) -> Iterator[tuple[Path, Counts]]:
    """Yield the folder as a whole where one suite has it all, else what is in it."""
    within = {path: counts for path, counts in by_file.items() if folder in path.parents}
    together = tuple(suites for counts in within.values() for suites in counts)
    if len(set().union(*together)) <= 1:
        yield folder, together
        return
    for child in sorted({folder / path.relative_to(folder).parts[0] for path in within}):
        if child in by_file:
            yield child, by_file[child]
        else:
            yield from _folded(by_file, child)


def _cell(counts: Counts, suite: str) -> str:
    """Return how much of some tests a suite has."""
    if not any(suite in suites for suites in counts):
        return ""
    return "all" if all(suites == {suite} for suites in counts) else "some"
