"""The suite's lab with another lab.toml for a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from labctl.lab.lab import Lab
from labctl.lab.lifecycle.up import up
from labctl.testing.reporter import TerminalReporter

__all__ = ["other_settings"]


@contextmanager
def other_settings(
    lab: Lab, project: Path, change: Callable[[str], str], config: pytest.Config
) -> Iterator[None]:
    """The lab runs by what `change` makes of lab.toml, then as before: each by another `up`."""
    before = (project / "lab.toml").read_text(encoding="utf-8")

    def use(text: str) -> None:
        (project / "lab.toml").write_text(text, encoding="utf-8")
        up(Lab.find(name=lab.name, project=project), TerminalReporter(config))

    try:
        use(change(before))
        yield
    finally:
        use(before)
