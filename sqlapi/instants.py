"""Points in time as a lake's tables name them: `yyyyMMddHHmmssSSS` in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

__all__ = ["EARLIEST", "LATEST", "format_instant", "to_datetime"]

EARLIEST = "0" * 17
"""An instant before every commit."""
LATEST = "9" * 17
"""An instant after every commit."""
_SECONDS_ONLY = 14
_WITH_MILLISECONDS = 17


def format_instant(moment: datetime) -> str:
    """Format an aware datetime as an instant, truncated to the millisecond."""
    utc = moment.astimezone(UTC)
    # strftime does not pad years before 1000
    return f"{utc.year:04d}{utc:%m%d%H%M%S}{utc.microsecond // 1000:03d}"


def to_datetime(instant: str) -> datetime:
    """Parse an instant (14 or 17 digits) as an aware datetime. Raise ValueError."""
    millis = int(instant[_SECONDS_ONLY:_WITH_MILLISECONDS] or 0)
    seconds = datetime.strptime(instant[:_SECONDS_ONLY], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return seconds + timedelta(milliseconds=millis)
