"""`bronze list` keeps a file's name in one piece, however narrow the terminal is."""

from __future__ import annotations

from datetime import UTC, datetime

from labctl.cli.bronze import _render
from labctl.lake.bronze_records import BronzeObject
from tests.unit.rendering import as_text

LONG = "topics/orders.public.purchase/year=2026/month=11/day=25/orders.public.purchase+0+0000.avro"


def test_a_name_is_never_broken() -> None:
    written = datetime(2026, 11, 25, 14, tzinfo=UTC)
    files = [BronzeObject("orders.public.purchase", 0, 0, LONG, 1234, written)] * 3
    lines = as_text(_render(files, 2), width=60).splitlines()
    assert lines == [
        "written                        bytes  object",
        f"2026-11-25T14:00:00.000+00:00  1,234  {LONG}",
        f"2026-11-25T14:00:00.000+00:00  1,234  {LONG}",
        "2 of 3 files",
    ]
