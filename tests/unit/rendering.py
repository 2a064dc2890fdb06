"""What a terminal would show of a command's result."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType

__all__ = ["as_text"]


def as_text(renderable: RenderableType, *, width: int = 200) -> str:
    """The text of `renderable`, `width` characters wide at most."""
    console = Console(file=io.StringIO(), width=width, soft_wrap=True)
    console.print(renderable)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()
