"""A new engine is its folder alone: no module outside names an engine."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from labctl.engine_names import FOLDER
from labctl.sources import ENGINES

LABCTL = FOLDER.parent
NAMED = re.compile(
    "|".join(sorted({n for e in ENGINES.values() for n in (e.name, e.title.lower(), e.scheme)})),
    re.IGNORECASE,
)
ELSEWHERE = {
    "artifacts/": "the parts of every service, by their names in the lock",
    "sqlserver/": "SQL Server's stand-in, a program of its own",
    "cli/": "commands have the names of programs, and examples: `client mysql`, `orders=postgres`",
    "lab/clients/client_programs.py": "these programs",
    "lab/clients/tsql.py": "the lab's own sqlcmd",
    "conformance/document.py": "a page with examples",
    "conformance/types_document.py": "a page with examples",
    "hive/": "the metastore's own schema file",
    "lake/serve_sql.py": "the SQL endpoint's own state",
    "services/metastore_service.py": "the metastore's JDBC driver",
    "services/registry_service.py": "the registry's JDBC driver",
    "runtimes/compose/stand_in_container.py": "the stand-in's container",
}
"""Modules and folders that may name an engine, each with its reason."""


def modules() -> Iterator[str]:
    for path in sorted(LABCTL.rglob("*.py")):
        name = path.relative_to(LABCTL).as_posix()
        if not name.startswith("engines/") and not any(name.startswith(e) for e in ELSEWHERE):
            yield name


def without_docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the nodes of a module, without the sentences that explain it."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                one
                for one in body
                if not (isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant))
            ]
    yield from ast.walk(tree)


def words(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.keyword(arg=str(name)) | ast.alias(name=name):
            yield name
        case ast.ImportFrom(module=str(name)):
            yield name


@pytest.mark.parametrize("name", list(modules()))
def test_a_module_names_no_engine(name: str) -> None:
    tree = ast.parse((LABCTL / name).read_text(encoding="utf-8"))
    found = [
        f"line {getattr(node, 'lineno', '?')}: {word!r:.80}"
        for node in without_docstrings(tree)
        for word in words(node)
        if NAMED.search(word)
    ]
    assert not found, "ask the engine's record in labctl/engines/NAME instead"
