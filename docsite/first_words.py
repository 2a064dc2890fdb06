"""The first words of docstrings: a function's is a verb, any other begins with a noun."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

__all__ = ["first_words", "words_before_nouns"]

_NO_VERB = re.compile(
    "what|whether|of|where|by|those|one|which|how|as|when|who|in|with|at|for|from|to|is|are|every|"
    "all|each|the|an?|its?|no|not|th(is|at)",
    re.IGNORECASE,
)

_NO_NOUN = re.compile("what|whether|of|where|by|those|how|which", re.IGNORECASE)


def first_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and first word of each function's docstring that does not begin with a verb.

    A property is read as an attribute, and its docstring begins with a noun.
    """
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
            continue
        words = (ast.get_docstring(node) or "").split(maxsplit=1)
        if words and _NO_VERB.fullmatch(words[0].strip(",.:")):
            yield node.lineno, words[0]


def words_before_nouns(text: str) -> Iterator[tuple[int, str]]:
    """Yield line and first word of other docstrings that hide their noun.

    These are the docstrings of modules, classes, properties, attributes and constants.
    """
    for line, said in _of_nouns(ast.parse(text)):
        words = said.split(maxsplit=1)
        if words and _NO_NOUN.fullmatch(words[0].strip(",.:")):
            yield line, words[0]


def _of_nouns(module: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef):
            if any("property" in ast.unparse(decorator) for decorator in node.decorator_list):
                yield node.lineno, ast.get_docstring(node) or ""
        elif isinstance(node, ast.Module | ast.ClassDef):
            yield getattr(node, "lineno", 1), ast.get_docstring(node) or ""
            for before, said in pairwise(node.body):
                if isinstance(before, ast.Assign | ast.AnnAssign) and (text := _text(said)):
                    yield said.lineno, text


def _text(statement: ast.stmt) -> str | None:
    """Return the text that a statement is, or None for another statement."""
    match statement:
        case ast.Expr(ast.Constant(str() as text)):
            return text
    return None
