"""Filling the source databases, and letting their changes flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.apply import Applied
from labctl.lab.connectors import apply_and_wait
from labctl.lab.lab import Lab
from seeds.tickit.load import Action, SeedResult, seed

__all__ = ["DataSet", "seed_lab"]

ORIGINAL_SCALE = 1.0


@dataclass(frozen=True)
class DataSet:
    """Which rows a lab is seeded with: generated ones of a scale, or the original files."""

    scale: float | None = None
    """None: the original files' size."""
    path: Path | None = None
    """The original data set's zip or folder; None: generate."""

    @classmethod
    def chosen(cls, scale: float | None, path: Path | None, seeded: Mapping[str, Any]) -> DataSet:
        """What was asked for; without a wish what was `seeded` before, else the original's size.

        Raises LabError (USAGE) when both a scale and a path are given.
        """
        if scale is not None and path is not None:
            raise LabError(
                "--scale cannot be combined with --from",
                hint="the original files have a size of their own",
                exit_code=ExitCode.USAGE,
            )
        if path is not None:
            return cls(path=path.absolute())
        if scale is not None:
            return cls(scale)
        if before := seeded.get("from"):
            return cls(path=Path(before))
        return cls(float(seeded.get("scale", ORIGINAL_SCALE)))

    def recorded(self) -> dict[str, float | str]:
        """As lab.json keeps it."""
        return {"from": str(self.path)} if self.path else {"scale": self.scale or ORIGINAL_SCALE}


def seed_lab(
    lab: Lab,
    *,
    scale: float | None = None,
    from_path: Path | None = None,
    reset: bool = False,
    connect: bool = True,
    progress: Callable[[str, str], None] = lambda _table, _what: None,
) -> tuple[SeedResult, list[Applied]]:
    """Load TICKIT, then apply the connectors (unless not `connect`).

    In this order, so that the first load reaches the topics as Debezium's snapshot. Without `scale`
    and `from_path` the lab gets what it was seeded with before, which its state remembers.
    """
    seeded = lab.state.load().get("seeded", {}) if lab.state.exists else {}
    data_set = DataSet.chosen(scale, from_path, seeded)
    result = seed(
        lab.endpoints,
        scale=data_set.scale or ORIGINAL_SCALE,
        from_path=data_set.path,
        reset=reset,
        progress=progress,
    )
    # Where every table that differs was left alone, the lab holds what it was seeded with before.
    changed = any(table.action in (Action.LOADED, Action.RESET) for table in result.tables)
    if lab.state.exists and (changed or not result.kept):
        lab.state.save(seeded=data_set.recorded())
    if not connect:
        return result, []
    return result, apply_and_wait(lab)
