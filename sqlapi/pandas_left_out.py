"""A block on importing pandas, for a program without data frames.

Arrow imports pandas to check whether a list is one of its arrays. This takes half a second and
tens of megabytes.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder

__all__ = ["leave_pandas_out"]

_PANDAS = "pandas"


class _NoPandas(MetaPathFinder):
    """Finder that reports pandas as missing, with the error that Arrow expects."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        if fullname == _PANDAS:
            raise ModuleNotFoundError(f"this program leaves {_PANDAS} out", name=fullname)


def leave_pandas_out() -> None:
    """Block pandas in this process from now on, unless it is imported already."""
    sys.meta_path.insert(0, _NoPandas())
