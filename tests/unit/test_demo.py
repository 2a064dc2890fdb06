"""What `labctl demo` ends with can be typed."""

from __future__ import annotations

import shlex

from labctl.cli.app import Invocation
from labctl.cli.demo import next_steps
from labctl.cli.format import Format

SQL = "SELECT * FROM tickit.sale WHERE salesid = 200"


def test_the_next_command_asks_by_the_sql_endpoint() -> None:
    lines = map(Invocation("second", None, Format.TEXT).addressed, next_steps(SQL, "2026"))
    title, first, second, *_ = lines
    assert title == "Next:"
    labctl = [".venv/bin/labctl", "--lab", "second"]
    assert shlex.split(first) == [*labctl, "athena", "shell", "-c", SQL]
    assert shlex.split(second) == [*labctl, "query", SQL, "--as-of", "2026"]
