"""For a program without data frames: pandas is not imported.

Arrow does, to ask whether a list is one of pandas' arrays: half a second and tens of megabytes.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder

__all__ = ["leave_pandas_out"]

_PANDAS = "pandas"


class _NoPandas(MetaPathFinder):
    """Says that there is none, as Arrow expects where it is not installed."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == _PANDAS:
            raise ModuleNotFoundError(f"this program leaves {_PANDAS} out", name=fullname)


def leave_pandas_out() -> None:
    """From now on there is no pandas in this process, unless it is there already."""
    sys.meta_path.insert(0, _NoPandas())
