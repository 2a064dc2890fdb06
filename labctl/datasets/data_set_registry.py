"""Finding data sets by name."""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from labctl.datasets.data_set import DataSet
from labctl.errors import ExitCode, LabError

__all__ = ["data_set", "data_sets"]

_GROUP = "labctl.data_sets"


def data_sets() -> list[DataSet]:
    """Return all installed data sets, ordered by name."""
    return [_load(found) for found in sorted(entry_points(group=_GROUP), key=lambda e: e.name)]


def data_set(name: str) -> DataSet:
    """Return the data set of that name. Raises LabError (USAGE) that lists the installed ones."""
    known = {found.name: found for found in entry_points(group=_GROUP)}
    if name not in known:
        raise LabError(
            f"There is no data set {name!r}",
            hint=f"installed: {', '.join(sorted(known)) or 'none'}; `labctl seed --list` tells "
            "what they hold",
            exit_code=ExitCode.USAGE,
        )
    return _load(known[name])


def _load(found: EntryPoint) -> DataSet:
    loaded = found.load()
    if not isinstance(loaded, DataSet):
        raise LabError(f"{found.value} is no labctl.datasets.DataSet", exit_code=ExitCode.USAGE)
    return loaded
