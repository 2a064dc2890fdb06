"""Changing one row at the source, and timing it until the lake API returns the new value."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import requests

from labctl.datasets import FollowedRow
from labctl.errors import ExitCode, LabError
from labctl.extras import require_extra
from labctl.lab.catalog.lake_api_switch import api_of
from labctl.lab.lab import Lab
from labctl.latency.change import TIMEOUT_SECONDS, write_change
from labctl.services.api_service import PREFIX

__all__ = ["ApiChange", "make_api_change"]

_REQUEST_SECONDS = 30
_POLL_SECONDS = 0.005


@dataclass(frozen=True)
class ApiChange:
    """A value as the API returned it before and after its change. Seconds, monotonic clock."""

    path: str
    field: str
    before: Any
    after: Any
    seconds: float
    """Time from the source's commit to the first answer with the new value."""
    requests: int
    """Number of answers up to and including that one."""


def make_api_change(lab: Lab, row: FollowedRow) -> ApiChange:
    """Change the row at its source, and poll the API until it returns the new value.

    Raises LabError if the API has no such row, does not answer, or does not show the change.
    """
    path, field = _place(row)
    url = f"{api_of(lab).url}{PREFIX}{path}"
    with requests.Session() as session:
        shown = _ask(session, url)[field]
        _, after, committed = write_change(lab, row)
        asked = 0
        while True:
            now = _ask(session, url)[field]
            asked += 1
            seconds = time.monotonic() - committed
            if now == after:
                return ApiChange(f"{PREFIX}{path}", field, shown, now, seconds, asked)
            if seconds > TIMEOUT_SECONDS:
                raise LabError(
                    f"After {TIMEOUT_SECONDS:.0f} s {PREFIX}{path} still has {field} {now}",
                    hint=f"`labctl trace {row.table} --where {row.key}={row.value}` says where the "
                    "change is",
                )
            time.sleep(_POLL_SECONDS)


def _place(row: FollowedRow) -> tuple[str, str]:
    """Return the row's API path and its column's field. Raises LabError (USAGE) if it has none."""
    require_extra("lakeapi")
    from lakeapi.statements import RESOURCES

    for resource in RESOURCES:
        if resource.table == row.table and row.column in resource.columns:
            fields = list(resource.model.model_fields.values())
            name = fields[resource.columns.index(row.column)].alias
            return f"/{resource.path}/{row.value}", str(name)
    raise LabError(f"The lake API shows no {row.column} of {row.table}", exit_code=ExitCode.USAGE)


def _ask(session: requests.Session, url: str) -> dict[str, Any]:
    """Return the row, with decimal numbers as Decimal. Raises LabError (NOT_READY)."""
    try:
        answer = session.get(url, timeout=_REQUEST_SECONDS)
        answer.raise_for_status()
    except requests.RequestException as error:
        raise LabError(
            f"The lake API does not answer: {error}",
            hint="`labctl tools api status` says what it lacks",
            exit_code=ExitCode.NOT_READY,
        ) from None
    found: dict[str, Any] = json.loads(answer.text, parse_float=Decimal)
    return found
