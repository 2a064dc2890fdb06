"""The data set's calendar: the year 2008 without 29 February.

Times are drawn as seconds into these 365 days, so that no arithmetic can land on the missing day.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["DATES", "DAY", "FIRST_DATE_ID", "date_ids", "timestamps"]

DAY = 86_400
"""Seconds in a day."""

FIRST_DATE_ID = 1827
"""`dateid` of 1 January."""

_LEAP_YEAR = np.arange("2008-01-01", "2009-01-01", dtype="datetime64[D]")
_LEAP_DAY = np.datetime64("2008-02-29")

DATES: npt.NDArray[np.datetime64] = np.setdiff1d(_LEAP_YEAR, _LEAP_DAY)
"""The 365 days, in order."""


def date_ids(seconds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """`dateid` of each time, given as seconds into the year."""
    return seconds // DAY + FIRST_DATE_ID


def timestamps(seconds: npt.NDArray[np.int64]) -> npt.NDArray[np.datetime64]:
    """Convert seconds into the year to `datetime64[us]`."""
    day, second = np.divmod(seconds, DAY)
    midnights: npt.NDArray[np.datetime64] = DATES[day].astype("datetime64[us]")
    moments: npt.NDArray[np.datetime64] = midnights + second.astype("timedelta64[s]")
    return moments
