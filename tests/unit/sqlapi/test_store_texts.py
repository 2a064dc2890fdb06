"""The SQL that the service sends to PostgreSQL: written in the code, values beside it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import sqlapi

ROOT = Path(sqlapi.__path__[0])
METHODS = {"rows", "row", "run", "_sure"}
"""Those of `Store`, and the executor's that calls one."""


def _texts() -> Iterator[tuple[str, ast.Call, str]]:
    """Every call that sends a text, with the file and the function that it is in."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in ast.walk(function):
                if isinstance(call, ast.Call) and _is_of_a_store(call.func):
                    yield path.relative_to(ROOT).as_posix(), call, function.name


def _is_of_a_store(called: ast.expr) -> bool:
    if not isinstance(called, ast.Attribute) or called.attr not in METHODS:
        return False
    owner = called.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name in ("_store", "store") or called.attr == "_sure"


def test_no_value_is_a_part_of_a_statement() -> None:
    found = list(_texts())
    assert len(found) > 50
    wrong = [
        f"{file}:{call.lineno}"
        for file, call, _ in found
        if not (isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str))
    ]
    assert wrong == []
