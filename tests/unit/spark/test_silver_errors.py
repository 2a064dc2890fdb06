"""Errors as they are shown: one line, the one that tells."""

from __future__ import annotations

import pytest

from lakecontract.errors import in_one_line

STACK = "\tat java.base/java.lang.Thread.run(Thread.java:840)"


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("no such bucket", "no such bucket"),
        ("", "RuntimeError"),
        (f"An error occurred while calling o1.get.\n: a.B: gone\n{STACK}", "a.B: gone"),
        (f"a\n: b.C: d\n{STACK}\nCaused by: e.F: g\n{STACK}\nCaused by: h.I: j\n{STACK}", "h.I: j"),
    ],
)
def test_an_error_is_told_in_one_line(message: str, line: str) -> None:
    assert in_one_line(RuntimeError(message)) == line
