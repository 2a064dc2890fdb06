"""Loading what installed packages bring for labctl."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import TypeVar

from labctl.errors import ExitCode, LabError

__all__ = ["load_entry_point"]

T = TypeVar("T")


def load_entry_point(point: EntryPoint, kind: type[T]) -> T:
    """Load an entry point of that kind. Raises LabError (ENVIRONMENT) if it cannot be used."""
    try:
        loaded = point.load()
        if isinstance(loaded, kind):
            return loaded
        why = f"it is no {kind.__qualname__}"
    except Exception as error:
        why = str(error)
    raise LabError(
        f"{point.name} of an installed package cannot be used: {point.value}: {why}",
        hint=f"correct the package's entry point in {point.group}, or uninstall the package",
        exit_code=ExitCode.ENVIRONMENT,
    )
