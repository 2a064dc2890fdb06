"""Which blocks of a page are marked as tested, and what of them is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from docsite.tested import marked_blocks

ROOT = Path(__file__).parents[2]
PAGE = """# A page

    labctl down

<!-- tested on a lab -->

    labctl status       # a comment
    labctl topics list

Prose.

<!-- tested on a lab: exit 2 -->

```
$ C="a, b"
$ labctl query "SELECT $C
  FROM nothing"
There is no silver table 'nothing'.
```

<!-- tested on a lab -->
```sh
labctl query "SELECT $C FROM sale" \\
  --deleted
```
"""


def page(folder: Path, text: str) -> Path:
    path = folder / "page.md"
    path.write_text(text)
    return path


def test_marked_blocks_are_found_and_no_others(tmp_path: Path) -> None:
    first, second, third = marked_blocks(page(tmp_path, PAGE))
    assert (first.line, first.exit_code) == (5, 0)
    assert first.script == "labctl status       # a comment\nlabctl topics list\n"
    assert second.exit_code == 2
    assert second.script == 'C="a, b"\nlabctl query "SELECT $C\n  FROM nothing"\n'
    assert third.script == ('C="a, b"\nlabctl query "SELECT $C FROM sale" \\\n  --deleted\n')


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("<!-- tested on a lab: exits 2 -->\n\n    labctl status\n", "'tested on a lab: exit N'"),
        ("<!-- tested on a lab -->\n\nProse.\n\n    labctl status\n", "no block of commands"),
        ("<!-- tested on a lab -->\n", "no block of commands"),
    ],
)
def test_a_mark_that_would_run_nothing_is_an_error(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(ValueError, match=rf"page\.md:1: .*{why}"):
        marked_blocks(page(tmp_path, text))


def test_some_blocks_of_the_pages_are_marked() -> None:
    """An empty list would be a test in tests/e2e that runs nothing."""
    assert len([one for path in ROOT.glob("docs/**/*.md") for one in marked_blocks(path)]) >= 12
