"""Progress of the start of the session's lab, shown in pytest's own terminal."""

from __future__ import annotations

import pytest

__all__ = ["TerminalReporter"]


class TerminalReporter:
    """An `UpReporter` that writes one line per step."""

    def __init__(self, config: pytest.Config) -> None:
        self._terminal = config.pluginmanager.get_plugin("terminalreporter")
        self._capture = config.pluginmanager.get_plugin("capturemanager")

    def begin(self, artifact: str, phase: str, total: int | None, unit: str) -> None:
        self.say(f"{artifact}: {phase}")

    def advance(self, artifact: str, amount: int) -> None:
        pass

    def finish(self, artifact: str) -> None:
        pass

    def service(self, name: str, state: str, detail: str = "") -> None:
        if state in ("ready", "failed"):
            self.say(f"{name}: {state} {detail}")

    def say(self, line: str) -> None:
        """Write a line, even while the output of a test is captured."""
        if self._terminal is None or self._capture is None:
            return
        with self._capture.global_and_fixture_disabled():
            self._terminal.ensure_newline()
            self._terminal.write_line(line)
