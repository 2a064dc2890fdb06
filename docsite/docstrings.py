"""Docstrings of attributes and members, read from the source: Python keeps no such docstrings."""

from __future__ import annotations

import ast
import inspect
import textwrap
from itertools import pairwise
from pathlib import Path

__all__ = ["attributes", "functions"]


def attributes(owner: type) -> dict[str, str]:
    """Return the docstrings of a class's attributes, with those of its base classes."""
    found: dict[str, str] = {}
    for one in reversed(owner.__mro__[:-1]):
        if one.__module__.startswith("labctl"):
            found |= _of_class(ast.parse(textwrap.dedent(inspect.getsource(one))).body)
    return found


def _of_class(statements: list[ast.stmt]) -> dict[str, str]:
    (body,) = (one.body for one in statements if isinstance(one, ast.ClassDef))
    found = {}
    for one, behind in pairwise(body):
        match one, behind:
            case (
                ast.AnnAssign(target=ast.Name(id=name)) | ast.Assign(targets=[ast.Name(id=name)]),
                ast.Expr(value=ast.Constant(value=str() as said)),
            ):
                found[name] = inspect.cleandoc(said)
    return found


def functions(module: Path) -> dict[str, str]:
    """Return the docstrings of a file's functions, in its order."""
    tree = ast.parse(module.read_text("utf-8"))
    return {
        one.name: ast.get_docstring(one) or ""
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
    }
