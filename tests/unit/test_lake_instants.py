"""Times as people write them, and as Hudi does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from labctl.errors import ExitCode, LabError
from labctl.lake.instants import parse_instant
from sqlapi.instants import EARLIEST, format_instant, to_datetime

NOW = datetime(2023, 2, 27, 3, 17, 13, 915_999, UTC)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("20230227031713915", "20230227031713915"),
        ("20230227031713", "20230227031713999"),
        ("2023-02-27 03:17:13.915", "20230227031713915"),
        ("2023-02-27T03:17:13.915123Z", "20230227031713915"),
        ("2023-02-27 03:17:13.915 UTC", "20230227031713915"),
        ("2023-02-27T04:17:13.915+01:00", "20230227031713915"),
        ("2023-02-27 03:17", "20230227031700000"),
        ("2023-02-27", "20230227000000000"),
        ("now", "20230227031713915"),
        ("NOW", "20230227031713915"),
        ("-5m", "20230227031213915"),
        ("-30s", "20230227031643915"),
        ("-250ms", "20230227031713665"),
        ("-1d", "20230226031713915"),
        ("0", EARLIEST),
        ("000", EARLIEST),
        ("earliest", EARLIEST),
        (" 2023-02-27 ", "20230227000000000"),
    ],
)
def test_accepts_what_people_write(text: str, instant: str) -> None:
    assert parse_instant(text, now=NOW) == instant


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "20231327031713915",
        "2023-02-30",
        "2023022703171391",
        "-5w",
        "-999999999999d",
        "5m",
        "1; drop",
        "٢٠٢٣٠٢٢٧٠٣١٧١٣٩١",
    ],
)
def test_refuses_what_is_no_time(text: str) -> None:
    with pytest.raises(LabError) as caught:
        parse_instant(text, now=NOW)
    assert caught.value.exit_code is ExitCode.USAGE
    assert f"'{text}'" in caught.value.what
    assert "20230227031713915" in str(caught.value.hint)
    assert "-5m" in str(caught.value.hint)


def test_instants_sort_like_their_times() -> None:
    moments = [
        datetime(1, 1, 1, tzinfo=UTC),
        datetime(999, 12, 31, 23, 59, 59, 999_000, UTC),
        datetime(2023, 2, 27, 3, 17, 13, 915_000, UTC),
        datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC),
    ]
    instants = [format_instant(moment) for moment in moments]
    assert instants == sorted(instants)
    assert [to_datetime(instant) for instant in instants] == moments


def test_other_zones_become_utc() -> None:
    there = timezone(timedelta(hours=-9, minutes=-30))
    moment = datetime(2023, 2, 26, 17, 47, 13, 915_000, there)
    assert format_instant(moment) == "20230227031713915"
