"""Reading the reports that measuring commands write."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from labctl.errors import ExitCode, LabError

__all__ = ["read_report"]

T = TypeVar("T")


def read_report(path: Path, kind: type[T], command: str) -> T:
    """Read a report that `command --write FILE` wrote. Raises LabError (USAGE) for other files."""
    try:
        return TypeAdapter(kind).validate_json(path.read_bytes())
    except OSError as error:
        reason = error.strerror
    except ValidationError as error:
        issue = error.errors()[0]
        key = ".".join(map(str, issue["loc"]))
        reason = f"{key}: {issue['msg']}" if key else issue["msg"]
    raise LabError(
        f"{path} is no report of `{command}`: {reason}",
        hint=f"`{command} --write FILE` makes one",
        exit_code=ExitCode.USAGE,
    )
