"""Folders named by time, as `TimeBasedPartitioner` names them: `path.format` in a time zone.

The connector formats with Joda-Time. Its numbers are formatted here the same way, whatever the
year; names of months and days are not, since they depend on the Java that the worker runs on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

__all__ = ["TimeFolders", "parse_millis", "parse_pattern", "time_zone"]

_SECOND, _MINUTE, _HOUR, _DAY = 1_000, 60_000, 3_600_000, 86_400_000
_DAYS_IN_400_YEARS = 146_097
_UNIX_EPOCH = date(1970, 1, 1).toordinal()
_EARLIEST, _LATEST = date(2, 1, 1).toordinal(), date(9998, 12, 31).toordinal()
_YEAR_2400 = date(2400, 1, 1).toordinal()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMED = "GEaz"
"""Letters that stand for names: of eras, days, halves of a day and time zones."""
_PIECE = re.compile(r"'(?:[^']|'')*'?|([A-Za-z])\1*|[^A-Za-z']+")
"""Pieces of a pattern: text in quotes, a letter with its repetitions, anything else."""
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>\d\d):(?P<minutes>\d\d)")
_NUMBER = re.compile(r"-?[0-9]{1,19}")
_ISO = re.compile(
    r"(?P<year>\d{4})(?:-(?P<month>\d\d?)(?:-(?P<day>\d\d?))?)?"
    r"(?:T(?:(?P<hour>\d\d?)(?::(?P<minute>\d\d?)(?::(?P<second>\d\d?)(?:[.,](?P<fraction>\d+))?)?)?)?"
    r"(?P<offset>Z|[+-]\d\d(?::?\d\d)?)?)?"
)


@dataclass(frozen=True, slots=True)
class _LocalTime:
    """A moment as clock and calendar of a time zone show it."""

    days: int
    """Days since 1970-01-01."""
    millis: int
    """Milliseconds since midnight."""

    @property
    def date(self) -> tuple[int, int, int]:
        """Year, month and day, in the Gregorian calendar without end."""
        cycles, days = divmod(self.days + _UNIX_EPOCH - 1, _DAYS_IN_400_YEARS)
        found = date.fromordinal(days + 1)
        return found.year + 400 * cycles, found.month, found.day

    @property
    def day_of_week(self) -> int:
        return (self.days + 3) % 7 + 1

    @property
    def day_of_year(self) -> int:
        year, month, day = self.date
        leap = 2000 if year % 4 == 0 and (year % 100 or year % 400 == 0) else 2001
        return (date(leap, month, day) - date(leap, 1, 1)).days + 1

    @property
    def week(self) -> tuple[int, int]:
        """ISO 8601's year and week."""
        thursday = _LocalTime(self.days + 4 - self.day_of_week, 0)
        return thursday.date[0], (thursday.day_of_year - 1) // 7 + 1


_Part = Callable[[_LocalTime], str]


def _year_of_era(time: _LocalTime) -> int:
    year = time.date[0]
    return year if year > 0 else 1 - year


_NUMBERS: Mapping[str, Callable[[_LocalTime], int]] = {
    "C": lambda time: _year_of_era(time) // 100,
    "Y": _year_of_era,
    "y": lambda time: time.date[0],
    "x": lambda time: time.week[0],
    "w": lambda time: time.week[1],
    "M": lambda time: time.date[1],
    "d": lambda time: time.date[2],
    "D": lambda time: time.day_of_year,
    "e": lambda time: time.day_of_week,
    "H": lambda time: time.millis // _HOUR,
    "k": lambda time: time.millis // _HOUR or 24,
    "K": lambda time: time.millis // _HOUR % 12,
    "h": lambda time: time.millis // _HOUR % 12 or 12,
    "m": lambda time: time.millis % _HOUR // _MINUTE,
    "s": lambda time: time.millis % _MINUTE // _SECOND,
}
"""The number that each letter of a pattern stands for."""


def parse_pattern(pattern: str) -> Sequence[_Part]:
    """Parse `path.format`. Raises ValueError for a part that cannot be formatted the same way."""
    return [_part(match.group()) for match in _PIECE.finditer(pattern)]


def _part(piece: str) -> _Part:
    if piece == "''":
        return _literal("'")
    if piece.startswith("'"):
        return _literal(piece[1:].removesuffix("'").replace("''", "'"))
    letter, width = piece[0], len(piece)
    if not letter.isalpha():
        return _literal(piece)
    if letter == "S":
        return lambda time: f"{time.millis % _SECOND:03d}".ljust(width, "0")[:width]
    if letter in _NAMED or (letter == "M" and width > 2):
        raise ValueError(f"{piece} stands for a name, which depends on the worker's Java")
    if letter not in _NUMBERS:
        raise ValueError(f"{piece} stands for nothing known")
    if letter in "Yyx" and width == 2:
        year = _NUMBERS["x" if letter == "x" else "y"]
        return lambda time: f"{abs(year(time)) % 100:02d}"
    number = _NUMBERS[letter]
    return lambda time: _padded(number(time), width)


def _padded(number: int, width: int) -> str:
    """Return at least `width` digits, after a minus if the number is negative."""
    return f"{'-' if number < 0 else ''}{abs(number):0{width}d}"


def _literal(text: str) -> _Part:
    return lambda _time: text


def time_zone(name: str) -> tzinfo:
    """Return a zone by its id or its fixed offset. Raises ValueError for any other name."""
    if match := _OFFSET.fullmatch(name):
        offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
        return timezone(-offset if match["sign"] == "-" else offset)
    if name == "UTC":
        return UTC
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):
        raise ValueError(f"{name} is no time zone") from None


@dataclass(frozen=True, slots=True)
class TimeFolders:
    """Folders by spans of time, each named after its beginning."""

    parts: Sequence[_Part]
    zone: tzinfo
    duration_ms: int

    def folder(self, timestamp_ms: int) -> str:
        """Return the folder for a moment in milliseconds since 1970."""
        begin = self._to_utc(self._floored(timestamp_ms + self._offset(timestamp_ms)))
        days, millis = divmod(begin + self._offset(begin), _DAY)
        return "".join(part(_LocalTime(days, millis)) for part in self.parts)

    def _floored(self, local: int) -> int:
        """Return the beginning of a span; before 1970 return its end, as Java divides."""
        spans = abs(local) // self.duration_ms
        return (spans if local >= 0 else -spans) * self.duration_ms

    def _to_utc(self, local: int) -> int:
        """Return the moment at which a clock shows `local`.

        If a change of the clock shows it twice or never, return Joda's choice: the later of the
        two, or the moment as far after the change as `local` is after the start of the gap.
        """
        rough = self._offset(local)
        offset = self._offset(local - rough)
        if rough != offset and rough < 0:
            before, behind = sorted((local - rough, local - offset))
            if self._offset(before) != self._offset(behind):
                offset = rough
        return local - offset

    def _offset(self, moment: int) -> int:
        """Return the milliseconds by which clocks are ahead of UTC."""
        days = moment // _DAY + _UNIX_EPOCH
        # Python does not have dates of all years. The calendar repeats every 400 years.
        if days > _LATEST:
            moment -= (days - _YEAR_2400) // _DAYS_IN_400_YEARS * _DAYS_IN_400_YEARS * _DAY
        elif days < _EARLIEST:
            moment = (_EARLIEST - _UNIX_EPOCH) * _DAY
        found = (_EPOCH + timedelta(milliseconds=moment)).astimezone(self.zone).utcoffset()
        return 0 if found is None else found // timedelta(milliseconds=1)


def parse_millis(text: str) -> int:
    """Return milliseconds since 1970 from digits, or from an ISO 8601 date, time or both.

    A time without an offset is in UTC. Raises ValueError for any other text.
    """
    if _NUMBER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    match = _ISO.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is neither a number nor a time of ISO 8601")
    field = {name: int(value) for name, value in match.groupdict("0").items() if value.isdecimal()}
    moment = datetime(
        field["year"],
        field["month"] or 1,
        field["day"] or 1,
        field["hour"],
        field["minute"],
        field["second"],
        tzinfo=_zone_of(match["offset"]),
    )
    millis = int((match["fraction"] or "0").ljust(3, "0")[:3])
    return (moment - _EPOCH) // timedelta(milliseconds=1) + millis


def _zone_of(offset: str | None) -> tzinfo:
    if offset is None or offset == "Z":
        return UTC
    digits = offset[1:].replace(":", "").ljust(4, "0")
    return time_zone(f"{offset[0]}{digits[:2]}:{digits[2:]}")
