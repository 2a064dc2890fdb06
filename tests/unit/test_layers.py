"""Imports go one way: the packages of labctl form layers, of which none imports one above it."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

from labctl.engine_names import FOLDER

LABCTL = FOLDER.parent
OF_ENGINES = {
    "lab/clients/client_programs.py",
    "lab/clients/tsql.py",
    "runtimes/compose/stand_in_container.py",
}
"""Modules for the programs of one engine. All others find the engines by their names."""


def imported(path: Path) -> Iterator[str]:
    """Yield the packages of labctl that a module imports when it is imported itself."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            names = [f"{node.module}.{one.name}" for one in node.names]
            for name in names if node.module == "labctl" else [node.module]:
                parts = name.split(".")
                if parts[0] == "labctl" and len(parts) > 1:
                    yield parts[1]


def test_no_package_imports_one_that_imports_it() -> None:
    layers: dict[str, set[str]] = {}
    for path in LABCTL.rglob("*.py"):
        name = path.relative_to(LABCTL)
        package = name.parts[0].removesuffix(".py")
        below = set(imported(path)) - {package}
        if name.as_posix() in OF_ENGINES:
            below.discard("engines")
        layers.setdefault(package, set()).update(below)
    assert "engines" not in set().union(*layers.values())
    try:
        TopologicalSorter(layers).prepare()
    except CycleError as error:
        raise AssertionError(f"they import each other: {' <- '.join(error.args[1])}") from None


REPOSITORY = LABCTL.parent
OF_THE_APPLICATION_ITSELF = {"labctl/floor/commit_floors.py"}
"""The benchmark of the shipped application's writer. A project's own may have none like it."""


def packages_used(path: Path) -> set[str]:
    """Return the top-level packages that a module imports, wherever in it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = [
        one.name for node in ast.walk(tree) if isinstance(node, ast.Import) for one in node.names
    ]
    names += [n.module for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) and n.module]
    return {name.partition(".")[0] for name in names}


def test_labctl_and_the_application_meet_in_the_contract_alone() -> None:
    """A project may replace the application: labctl must not read its lake by other rules."""
    knowing = {
        path.relative_to(REPOSITORY).as_posix()
        for path in LABCTL.rglob("*.py")
        if "lakehouse" in packages_used(path)
    }
    assert knowing == OF_THE_APPLICATION_ITSELF
    for folder, forbidden in (
        ("lakecontract", {"labctl", "lakehouse"}),
        ("spark/lakehouse", {"labctl"}),
        ("sqlapi", {"labctl", "lakecontract", "lakehouse"}),
    ):
        for path in (REPOSITORY / folder).rglob("*.py"):
            assert not packages_used(path) & forbidden, path


OF_EVERY_PACKAGE = {"__init__.py", "__main__.py"}


def test_a_file_is_found_by_its_name() -> None:
    """No name of a module occurs more than twice, in what ships and in `docsite` and `release`."""
    folders = (
        "docsite",
        "labctl",
        "lakeapi",
        "lakecontract",
        "release",
        "seeds",
        "spark",
        "sqlapi",
    )
    paths = (path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))
    names = Counter(path.name for path in paths if path.name not in OF_EVERY_PACKAGE)
    assert {name: number for name, number in names.items() if number > 2} == {}
