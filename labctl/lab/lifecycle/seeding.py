"""Seeding of the source databases, and capture of their changes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labctl.datasets import Action, DataSet, SeededTable, SeedResult, data_set, seed
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.apply import Applied
from labctl.lab.connectors.connector_states import apply_and_wait
from labctl.lab.lab import Lab

__all__ = ["RowsOf", "Seeded", "lab_data_sets", "seed_lab"]

ORIGINAL_SCALE = 1.0


@dataclass(frozen=True)
class RowsOf:
    """Rows of a data set that a lab is filled with: generated ones at a scale, or its files."""

    scale: float | None = None
    """Scale of the generated rows; None for the size of the files."""
    path: Path | None = None
    """Zip or folder of the data set's own files; None to generate rows."""

    @classmethod
    def chosen(cls, scale: float | None, path: Path | None, seeded: Mapping[str, Any]) -> RowsOf:
        """Return the requested rows, else those `seeded` before, else the original's size.

        Raises LabError (USAGE) if both a scale and a path are given.
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
        """Return the entry for lab.json."""
        return {"from": str(self.path)} if self.path else {"scale": self.scale or ORIGINAL_SCALE}


@dataclass(frozen=True)
class Seeded:
    """Result of `seed_lab`."""

    data_sets: tuple[SeedResult, ...]
    connectors: tuple[Applied, ...]
    """Connectors that were applied afterwards."""

    @property
    def tables(self) -> list[SeededTable]:
        return [table for result in self.data_sets for table in result.tables]

    @property
    def rows(self) -> int:
        """Rows in all seeded tables."""
        return sum(result.rows for result in self.data_sets)

    @property
    def seconds(self) -> float:
        return sum(result.seconds for result in self.data_sets)


def lab_data_sets(lab: Lab, name: str | None = None) -> list[DataSet]:
    """Return the data sets of `lab.toml`, or the one called `name`. Raises LabError (USAGE)."""
    names = lab.config.data_sets if name is None else (name,)
    if not names:
        raise LabError(
            f"{lab.project / 'lab.toml'} names no data set",
            hint='write data_sets = ["…"] there, or name one: `labctl seed --list` tells which '
            "there are",
            exit_code=ExitCode.USAGE,
        )
    return [data_set(one) for one in names]


def seed_lab(
    lab: Lab,
    name: str | None = None,
    *,
    scale: float | None = None,
    from_path: Path | None = None,
    only: Collection[str] = (),
    reset: bool = False,
    connect: bool = True,
    progress: Callable[[str, str], None] = lambda _table, _what: None,
) -> Seeded:
    """Load the data set `name`, or those of the lab; then apply the connectors if `connect`.

    This order lets the first load reach the topics as Debezium's snapshot. Without `scale` and
    `from_path`, the lab gets the rows that it was seeded with before, which its state remembers.
    `only` names the tables to load; the others stay as they are.
    """
    chosen = lab_data_sets(lab, name)
    if only and len(chosen) > 1:
        raise LabError(
            f"--only names tables of one data set, and this lab has {len(chosen)}",
            hint=f"name it: labctl seed {chosen[0].name} --only {','.join(only)}",
            exit_code=ExitCode.USAGE,
        )
    if from_path is not None and len(chosen) > 1:
        raise LabError(
            f"--from has the files of one data set, and this lab has {len(chosen)}",
            hint=f"name it: labctl seed {chosen[0].name} --from {from_path}",
            exit_code=ExitCode.USAGE,
        )
    results = tuple(
        _seed_one(lab, one, scale, from_path, only, reset=reset, progress=progress)
        for one in chosen
    )
    applied = apply_and_wait(lab) if connect else []
    return Seeded(results, tuple(applied))


def _seed_one(
    lab: Lab,
    one: DataSet,
    scale: float | None,
    from_path: Path | None,
    only: Collection[str],
    *,
    reset: bool,
    progress: Callable[[str, str], None],
) -> SeedResult:
    seeded = lab.state.load().get("seeded", {}) if lab.state.exists else {}
    rows = RowsOf.chosen(scale, from_path, seeded.get(one.name, {}))
    result = seed(
        lab.endpoints,
        one,
        scale=rows.scale or ORIGINAL_SCALE,
        from_path=rows.path,
        only=only,
        reset=reset,
        progress=progress,
    )
    # If every table that differs was kept, the lab still holds its earlier rows.
    changed = any(table.action in (Action.LOADED, Action.RESET) for table in result.tables)
    if lab.state.exists and (changed or not result.kept):
        lab.state.save(seeded={**seeded, one.name: rows.recorded()})
    return result
