"""Location of the files that labctl comes with: the one place that knows it.

In a checkout they are the repository's own; the wheel has a copy of them inside the package
(`hatch_build.py`). What a project has itself wins.
"""

from __future__ import annotations

from pathlib import Path

from labctl.errors import ExitCode, LabError
from lakecontract.regular_files import require_regular

__all__ = ["IN_WHEEL", "own_or_shipped", "shipped"]

IN_WHEEL = Path(__file__).resolve().with_name("files")
"""There in an installed wheel alone."""


def shipped(name: str) -> Path:
    """Return a file or folder that labctl comes with, by its path in the repository."""
    root = IN_WHEEL if IN_WHEEL.is_dir() else Path(__file__).resolve().parents[2]
    return root / name


def own_or_shipped(project: Path, name: str) -> Path:
    """Return the project's own file of that path, or else the one that labctl comes with.

    Raises LabError (USAGE) for one of the project's that cannot be read: a pipe, a device.
    """
    own = project / name
    try:
        require_regular(own)
    except (FileNotFoundError, NotADirectoryError):
        return shipped(name)
    except OSError as error:
        raise LabError(
            f"{own} cannot be read: {error.strerror}",
            hint="put a file there, or remove it: labctl has one of its own",
            exit_code=ExitCode.USAGE,
        ) from None
    return own
