"""Points in time as people write them, converted to instants of a table's commits.

Hudi names a commit by when it was requested, to the millisecond: `yyyyMMddHHmmssSSS`. The silver
tables keep their timeline in UTC, so a time without a zone is taken as UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from labctl.errors import ExitCode, LabError
from sqlapi.instants import EARLIEST, format_instant, to_datetime

__all__ = ["ACCEPTED", "parse_instant"]

ACCEPTED = (
    "a Hudi instant (20230227031713915), a date or time (2023-02-27, '2023-02-27 03:17:13.915', "
    "2023-02-27T04:17:13+01:00; UTC when no zone is given), now, earliest, "
    "or a time ago (-30s, -5m, -2h, -1d)"
)

_RELATIVE = re.compile(r"-(\d+)(ms|s|m|h|d)")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_SECONDS_ONLY = 14
_WITH_MILLISECONDS = 17


def parse_instant(text: str, *, now: datetime | None = None) -> str:
    """Convert `text` to a Hudi instant of 17 digits, in UTC.

    Raise LabError (exit code USAGE) naming the text and the accepted formats.
    """
    value = text.strip()
    if value.lower() in ("0", "000", "earliest"):
        return EARLIEST
    try:
        if value.isdigit():
            return _from_digits(value)
        return format_instant(_moment(value, now or datetime.now(UTC)))
    except (ValueError, OverflowError):
        raise LabError(
            f"'{text}' is not a point in time.",
            hint=f"Accepted: {ACCEPTED}.",
            exit_code=ExitCode.USAGE,
        ) from None


def _from_digits(digits: str) -> str:
    if len(digits) not in (_SECONDS_ONLY, _WITH_MILLISECONDS):
        raise ValueError
    to_datetime(digits)
    # Hudi lets an instant without milliseconds stand for the whole second
    return digits if len(digits) == _WITH_MILLISECONDS else digits + "999"


def _moment(value: str, now: datetime) -> datetime:
    if value.lower() == "now":
        return now
    if match := _RELATIVE.fullmatch(value.lower()):
        return now - timedelta(**{_UNITS[match[2]]: int(match[1])})
    moment = datetime.fromisoformat(value.removesuffix(" UTC"))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
