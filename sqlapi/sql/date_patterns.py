"""Patterns of date_format (from MySQL) and format_datetime (from Joda)."""

from __future__ import annotations

import re
from datetime import datetime
from functools import lru_cache

__all__ = ["formatted", "parsed", "parts"]

_KEPT = 200
"""Size of the caches: clients choose the patterns, so there may be any number."""
_MYSQL = {
    "%Y": "Y", "%y": "y", "%m": "m", "%c": "m1", "%d": "d", "%e": "d1", "%H": "H", "%k": "H1",
    "%h": "I", "%I": "I", "%l": "I1", "%i": "M", "%s": "S", "%S": "S", "%f": "f", "%p": "p",
    "%M": "B", "%b": "b", "%W": "A", "%a": "a", "%j": "j", "%T": "T", "%r": "r", "%x": "G",
    "%v": "V",
}  # fmt: skip
_JODA = {
    "yyyy": "Y", "yy": "y", "MM": "m", "M": "m1", "dd": "d", "d": "d1", "HH": "H", "H": "H1",
    "hh": "I", "h": "I1", "mm": "M", "ss": "S", "SSS": "ms", "a": "p", "MMMM": "B", "MMM": "b",
    "EEEE": "A", "EEE": "a", "DDD": "j", "D": "j1", "m": "M1", "s": "S1", "xxxx": "G", "ww": "V",
}  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_READ = {
    "Y": r"(?P<Y>\d{4})", "m": r"(?P<m>\d{1,2})", "m1": r"(?P<m>\d{1,2})",
    "d": r"(?P<d>\d{1,2})", "d1": r"(?P<d>\d{1,2})", "H": r"(?P<H>\d{1,2})",
    "H1": r"(?P<H>\d{1,2})", "M": r"(?P<M>\d{1,2})", "M1": r"(?P<M>\d{1,2})",
    "S": r"(?P<S>\d{1,2})", "S1": r"(?P<S>\d{1,2})", "ms": r"(?P<ms>\d{3})",
    "y": r"(?P<y>\d{2})",
    "I": r"(?P<I>\d{1,2})", "I1": r"(?P<I>\d{1,2})", "p": r"(?P<p>[AaPp][Mm])",
    "b": rf"(?P<b>(?i:{'|'.join(name[:3] for name in _MONTHS)}))",
    "B": rf"(?P<B>(?i:{'|'.join(_MONTHS)}))", "f": r"(?P<f>\d{1,9})",
}  # fmt: skip


@lru_cache(_KEPT)
def parts(name: str, pattern: str) -> tuple[tuple[str, str], ...]:
    """Return a pattern's parts `(kind, text)` in order; kind '' is literal text.

    Raises ValueError for a part that is not supported.
    """
    if name in ("t_date_format", "t_date_parse"):
        found = re.findall(r"%.|[^%]+", pattern)
        known = _MYSQL
        literal = ["%" if p == "%%" else p if not p.startswith("%") else None for p in found]
    else:
        found = re.findall(r"'[^']+'|([A-Za-z])\1*|[^A-Za-z']+", pattern)
        found = [m[0] for m in re.finditer(r"'[^']+'|([A-Za-z])\1*|[^A-Za-z']+", pattern)]
        known = _JODA
        literal = [
            p.strip("'") if p.startswith("'") else None if p[0].isalpha() else p for p in found
        ]
    if "".join(found) != pattern:
        raise ValueError(f"Date format {pattern} is not supported")
    made: list[tuple[str, str]] = []
    for part, plain in zip(found, literal, strict=True):
        if plain is not None:
            made.append(("", plain))
        elif part in known:
            made.append((known[part], part))
        else:
            raise ValueError(f"Date format {part} is not supported")
    if name in ("t_date_parse", "t_parse_datetime"):
        kinds = [kind for kind, _ in made if kind]
        told = [{"I": "H", "b": "m", "B": "m", "ms": "f", "y": "Y"}.get(k, k[0]) for k in kinds]
        told = [{"I": "H"}.get(k, k) for k in told]
        bare = "".join(f"<{p}>" if k else p for k, p in made)
        if (
            any(kind not in _READ for kind in kinds)
            or len(set(told)) < len(told)
            or ("y" in kinds and name == "t_parse_datetime")
            or ("p" in kinds) != any(kind[0] == "I" for kind in kinds)
            # the number of digits that a part takes depends on the next part
            or (name == "t_date_parse" and "f" in kinds and not bare.endswith("<%f>"))
        ):
            raise ValueError(f"Date format {pattern} is not supported")
    return tuple(made)


def formatted(name: str, value: datetime, pattern: str) -> str:
    """Format a local time by a pattern."""
    return "".join(plain if not kind else _one(kind, value) for kind, plain in parts(name, pattern))


def _one(kind: str, value: datetime) -> str:
    hour = value.hour % 12 or 12
    shown = {
        "Y": f"{value.year:04}", "y": f"{value.year % 100:02}", "m": f"{value.month:02}",
        "m1": str(value.month), "d": f"{value.day:02}", "d1": str(value.day),
        "H": f"{value.hour:02}", "H1": str(value.hour), "I": f"{hour:02}", "I1": str(hour),
        "M": f"{value.minute:02}", "M1": str(value.minute), "S": f"{value.second:02}",
        "S1": str(value.second), "f": f"{value.microsecond:06}",
        "ms": f"{value.microsecond // 1000:03}", "p": "AM" if value.hour < 12 else "PM",
        "B": _MONTHS[value.month - 1], "b": _MONTHS[value.month - 1][:3],
        "A": _DAYS[value.weekday()], "a": _DAYS[value.weekday()][:3],
        "j": f"{value.timetuple().tm_yday:03}", "j1": str(value.timetuple().tm_yday),
        "r": f"{hour:02}:{value.minute:02}:{value.second:02} {'AM' if value.hour < 12 else 'PM'}",
        "G": str(value.isocalendar().year), "V": f"{value.isocalendar().week:02}",
        "T": f"{value.hour:02}:{value.minute:02}:{value.second:02}",
    }  # fmt: skip
    return shown[kind]


@lru_cache(_KEPT)
def _reader(name: str, pattern: str) -> re.Pattern[str]:
    pieces = (_READ[kind] if kind else re.escape(plain) for kind, plain in parts(name, pattern))
    return re.compile("".join(pieces))


def parsed(name: str, value: str, pattern: str) -> datetime:
    """Parse a local time by a pattern. Raises ValueError."""
    found = _reader(name, pattern).fullmatch(value)
    if not found:
        raise ValueError(f'Invalid format: "{value}"')
    texts = found.groupdict()
    given = {kind: int(digits) for kind, digits in texts.items() if digits.isdigit()}
    for key, names in (("b", [m[:3] for m in _MONTHS]), ("B", list(_MONTHS))):
        if key in texts:
            given["m"] = [m.lower() for m in names].index(texts[key].lower()) + 1
    if "I" in given:
        if not 1 <= given["I"] <= 12:
            raise ValueError(f'Cannot parse "{value}"')
        given["H"] = given["I"] % 12 + (12 if texts["p"].lower() == "pm" else 0)
    if "y" in given:
        given["Y"] = given["y"] + (2000 if given["y"] < 70 else 1900)
    if "f" in texts:
        given["ms"] = int(texts["f"].ljust(3, "0")[:3])
    try:
        return datetime(
            given.get("Y", 1970), given.get("m", 1), given.get("d", 1), given.get("H", 0),
            given.get("M", 0), given.get("S", 0), given.get("ms", 0) * 1000,
        )  # fmt: skip
    except ValueError:
        raise ValueError(f'Cannot parse "{value}"') from None
