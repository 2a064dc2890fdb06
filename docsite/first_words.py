"""The first words of docstrings: a function's is a verb."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

__all__ = ["first_words"]

_NO_VERB = re.compile(
    "what|whether|of|where|by|those|one|which|how|as|when|who|in|with|at|for|from|to|is|are|every|"
    "all|each|the|an?|its?|no|not|th(is|at)",
    re.IGNORECASE,
)


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
