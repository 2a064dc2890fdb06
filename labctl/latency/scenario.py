"""Scenarios: the changes to write, their tables and rate, and the outage meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, model_validator

from labctl.config.config_reading import read_section
from labctl.config.lab_config import SilverSource
from labctl.config.section import Section
from labctl.errors import ExitCode, LabError
from labctl.shipped import shipped

__all__ = [
    "Changes",
    "Outage",
    "Scenario",
    "Spread",
    "TableType",
    "find_scenario",
    "scenario_files",
]

FOLDER = "scenarios"
"""Name of the folder with scenarios in a project."""
HINT = "docs/latency.md lists every key of a scenario"
TableType = Literal["cow", "mor"]
Spread = Literal["one", "each-source", "all"]
Seconds = Annotated[float, Field(gt=0, le=86_400)]
Share = Annotated[int, Field(ge=0, le=1_000)]


class Changes(Section):
    """Changes of single rows, the same number to each table."""

    count: int = Field(ge=1, le=2_000_000)
    """Number of changes of each table, including warm-up."""
    rate: float | None = Field(default=None, gt=0, le=100_000)
    """Changes per second of each table; None: as fast as its database takes them."""
    jitter: float = Field(default=0.0, ge=0, le=1)
    """Largest deviation of a pause between two transactions, as a share of its length."""
    rows_per_transaction: int = Field(default=1, ge=1, le=1_000_000)
    inserts: Share = 0
    """Weight of inserts, relative to those of updates and deletes."""
    updates: Share = 1
    deletes: Share = 0
    rows: int = Field(default=100, ge=1, le=2_000_000)
    """Number of rows created in advance, which updates and deletes use in turn."""
    warm_up: int = Field(default=0, ge=0)
    """Number of first changes of each table that count for loss and duplicates, but not for the
    times."""

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if not self.inserts + self.updates + self.deletes:
            raise ValueError("one of inserts, updates and deletes must not be 0")
        if self.warm_up >= self.count:
            raise ValueError("warm_up leaves nothing of count")
        if self.rows_per_transaction > self.rows and self.inserts == 0:
            raise ValueError("rows must be at least rows_per_transaction: a row once a transaction")
        return self


class Outage(Section):
    """A service that is stopped and started again while changes are made."""

    service: Literal["kafka", "connect", "registry", "objectstore", "silver"]
    after: Seconds
    """Seconds from the first change until the service is stopped."""
    seconds: Seconds
    """Seconds that the service stays stopped; its start takes additional time."""


class Scenario(Section):
    """A file of `scenarios/`."""

    title: str
    tables: tuple[str, ...] = ()
    """Silver tables, each with its own writer at its source. If empty, or if the lab has none of
    them, the tables that its data sets propose for scenarios."""
    spread: Spread = "one"
    """Tables to use if `tables` does not decide: one, one of each source, or all."""
    source: SilverSource | None = None
    """Source that silver reads changes from; None: as the lab is configured."""
    table_type: TableType | None = None
    """Type of the tables; None: as in their properties."""
    changes: Changes | None = None
    snapshot: bool = False
    """True to have the connectors read the whole tables instead of making `changes`."""
    outage: Outage | None = None
    drain: Seconds = 120.0
    """Seconds without any progress after which the changes in flight count as lost."""

    @model_validator(mode="after")
    def _has_one_load(self) -> Self:
        if self.snapshot == (self.changes is not None):
            raise ValueError("a scenario has either a section [changes] or snapshot = true")
        return self

    def with_options(self, **options: Any) -> Scenario:
        """Return this scenario with options of the command line; None leaves a key unchanged.

        Raises LabError (USAGE) for values that do not fit together.
        """
        given = {key: value for key, value in options.items() if value is not None}
        nested = {key: given.pop(key) for key in ("count", "rate", "rows") if key in given}
        values = self.model_dump()
        if nested and values["changes"] is None:
            raise LabError(
                f"A snapshot takes no {', '.join(nested)}: it reads the tables as they stand",
                exit_code=ExitCode.USAGE,
            )
        if nested:
            values["changes"] |= nested
        try:
            return Scenario.model_validate(values | given)
        except ValidationError as error:
            issue = error.errors()[0]
            key = ".".join(str(part) for part in issue["loc"])
            raise LabError(
                f"The scenario cannot be run so: {key + ': ' if key else ''}"
                f"{issue['msg'].removeprefix('Value error, ')}",
                hint=HINT,
                exit_code=ExitCode.USAGE,
            ) from None


def scenario_files(project: Path) -> dict[str, Path]:
    """Return scenario files by name: labctl's, which the project's replace if they share a name."""
    folders = (shipped(FOLDER), project / FOLDER)
    found = {path.stem: path for folder in folders for path in folder.glob("*.toml")}
    return dict(sorted(found.items()))


def find_scenario(project: Path, name: str) -> tuple[str, Scenario]:
    """Return a scenario's name and content, by name or path. Raises LabError (USAGE)."""
    files = scenario_files(project)
    path = files.get(name) or Path(name)
    if not path.is_file():
        raise LabError(
            f"There is no scenario {name!r}",
            hint=f"scenarios: {', '.join(files)}; or the path of a file",
            exit_code=ExitCode.USAGE,
        )
    return path.stem, read_section(path, Scenario, hint=HINT)
