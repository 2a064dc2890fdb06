"""Finding data sets by name."""

from __future__ import annotations

from importlib.metadata import entry_points

from labctl.datasets.data_set import DataSet
from labctl.entry_points import load_entry_point
from labctl.errors import ExitCode, LabError

__all__ = ["data_set", "data_sets"]

_GROUP = "labctl.data_sets"


def data_sets() -> list[DataSet]:
    """Return all installed data sets, ordered by name."""
    points = sorted(entry_points(group=_GROUP), key=lambda point: point.name)
    return [load_entry_point(point, DataSet) for point in points]


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
    return load_entry_point(known[name], DataSet)
