"""The state that a lab runs with, as far as a watcher knows, and the files still to apply."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.watching.places import Use
from labctl.watching.planning import Kind, Project, Step, TableFacts

__all__ = ["Look", "Running"]

Look = Mapping[Path, tuple[Use, str]]
"""Use and content digest of each file."""

_UNKNOWN = ""
"""Placeholder for a digest after a step failed halfway, so that any next content is applied."""


class Running:
    """The files that were applied last, and their content."""

    def __init__(self, project: Project, look: Look) -> None:
        self.project = project
        self._applied = dict(look)
        self._refused: dict[Path, tuple[Use, str] | None] = {}

    def changed(self, now: Look) -> dict[Path, Use]:
        """Return the files to apply, without those whose present content was already refused."""
        return {
            path: (now.get(path) or self._applied[path])[0]
            for path in self._applied.keys() | now.keys()
            if self._applied.get(path) != now.get(path)
            and not (path in self._refused and self._refused[path] == now.get(path))
        }

    def note(
        self,
        now: Look,
        changed: Collection[Path],
        after: Project,
        failed: Sequence[tuple[Step, LabError]],
    ) -> None:
        """Record that the files in `changed` were applied, except for the steps in `failed`."""
        left = {path for step, _ in failed for path in step.files}
        for path in set(changed) - left:
            self._refused.pop(path, None)
            self._keep(path, now.get(path))
        config, tables = after.config, dict(after.tables)
        for step, error in failed:
            # A refused step has changed nothing; for a busy lab, the step is tried again.
            stays = error.exit_code in (ExitCode.USAGE, ExitCode.BUSY)
            if step.kind is Kind.UP:
                config = self.project.config if stays else None
            for name in _tables_of(step, after.tables, self.project.tables):
                was = self.project.tables.get(name)
                tables.pop(name, None)
                if was is not None:
                    tables[name] = was if stays else replace(was, digest=_UNKNOWN)
            for path in step.files:
                if error.exit_code is not ExitCode.BUSY:
                    self._refused[path] = now.get(path)
                if not stays and path in self._applied:
                    self._keep(path, (self._applied[path][0], _UNKNOWN))
        self.project = Project(config, tables, after.sinks)

    def _keep(self, path: Path, seen: tuple[Use, str] | None) -> None:
        if seen is None:
            self._applied.pop(path, None)
        else:
            self._applied[path] = seen


def _tables_of(
    step: Step, after: Mapping[str, TableFacts], before: Mapping[str, TableFacts]
) -> set[str]:
    """Return the tables that a step would have changed."""
    match step.kind:
        case Kind.TABLE:
            return {step.what}
        case Kind.START_TABLE:
            return {name for name, facts in after.items() if facts.address == step.what}
        case Kind.UP:
            return set(before) - set(after)
    return set()
