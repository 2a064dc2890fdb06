"""A picture of a terminal, from output that a command has really printed."""

from __future__ import annotations

import inspect
import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

__all__ = ["terminal_picture"]

OUTPUT = Path(__file__).parents[1] / "docs" / "images" / "demo.txt"
"""Output of `make demo`. Replace it by the output of a later run."""
WIDTH = 110
FONTS = re.compile(r"@font-face \{\{.*?\}\}\n", re.DOTALL)
HIGHLIGHTS = (
    (r"\d[\d,.]* s\b", "bold cyan"),
    (r"\bequal\b", "green"),
    (r"All rows match", "bold green"),
    (r"^source  .*", "bold"),
    (r"^\$ .*", "bold"),
)


def terminal_picture() -> str:
    """Draw the output of `make demo`, as it looks in a terminal."""
    lines = ["$ make demo", *OUTPUT.read_text("utf-8").splitlines()]
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for line in lines:
        text = Text(line)
        for pattern, style in HIGHLIGHTS:
            text.highlight_regex(pattern, style)
        console.print(text, soft_wrap=False)
    # Rich's own form asks another server for a font.
    parameters = inspect.signature(Console.export_svg).parameters
    form = FONTS.sub("", parameters["code_format"].default).replace(
        "Fira Code, monospace", "monospace"
    )
    made = console.export_svg(title="labctl", code_format=form, unique_id="demo")
    return re.sub(r"[ \t]+$", "", made, flags=re.MULTILINE).rstrip() + "\n"
