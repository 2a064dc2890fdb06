"""Draws boxes, arrows, lines and words as SVG, which needs no font of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape

__all__ = ["Drawing"]

FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"
INK = "#1f2933"
FAINT = "#616e7c"
EDGE = "#9aa5b1"
FILLS = {"plain": "#ffffff", "source": "#e3f2fd", "stream": "#fff3e0", "lake": "#e0f2f1"}
"""Colours by kind of box."""


class Drawing:
    """A picture on a light ground, so that it can be read on a dark page too."""

    def __init__(self, width: int, height: int, title: str) -> None:
        self._size = (width, height)
        self._title = title
        self._parts: list[str] = []

    def box(
        self, x: int, y: int, width: int, height: int, words: Sequence[str], kind: str = "plain"
    ) -> None:
        """Draw a box with lines of text, the first of them bold."""
        self._parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" '
            f'fill="{FILLS[kind]}" stroke="{EDGE}"/>'
        )
        top = y + height / 2 - 9 * (len(words) - 1)
        for number, line in enumerate(words):
            self.text(x + width / 2, top + 18 * number, line, bold=number == 0, faint=number > 0)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        bold: bool = False,
        faint: bool = False,
        anchor: str = "middle",
        size: int = 13,
    ) -> None:
        """Draw a line of text, its middle at `y`."""
        weight = ' font-weight="600"' if bold else ""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}" dominant-baseline="central" '
            f'font-size="{size}" fill="{FAINT if faint else INK}"{weight}>{escape(words)}</text>'
        )

    def arrow(self, *points: tuple[int, int], dashed: bool = False) -> None:
        """Draw a line along `points`, with a head at its end."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        path = " ".join(f"{x},{y}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{INK}" stroke-width="1.5"{dash} '
            'marker-end="url(#head)"/>'
        )

    def line(self, points: Iterable[tuple[float, float]], colour: str, width: float = 2) -> None:
        """Draw a line along `points`."""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width:g}"/>'
        )

    def bar(self, x: float, y: float, width: float, height: float, colour: str) -> None:
        """Draw a filled rectangle."""
        self._parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" '
            f'fill="{colour}"/>'
        )

    def svg(self) -> str:
        """Return the picture."""
        width, height = self._size
        return "\n".join(
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                f'width="{width}" role="img" font-family="{FONT}">',
                f"<title>{escape(self._title)}</title>",
                '<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" '
                f'markerHeight="7" orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="{INK}"/>'
                "</marker></defs>",
                f'<rect width="{width}" height="{height}" rx="8" fill="#f7f9fb"/>',
                *self._parts,
                "</svg>",
                "",
            )
        )
