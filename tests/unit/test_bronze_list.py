"""`bronze list` keeps a file's name in one piece, however narrow the terminal is."""

from __future__ import annotations

from datetime import UTC, datetime

from labctl.cli.bronze import _render
from labctl.lake.bronze_records import BronzeObject
from lakecontract.bronze_beginning import Beginning
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


def test_removed_files_are_told_of() -> None:
    file = BronzeObject("orders", 0, 1200, "topics/orders/a", 1, None)
    begins = Beginning({0: 1200, 2: 7}, "2026-11-01T00:00:00.000+00:00")
    text = as_text(_render([file], 1, begins), width=300)
    assert (
        "bronze of orders begins at offset 1,200 of partition 0, offset 7 of partition 2: older "
        "files were removed (lake.retention); everything written since "
        "2026-11-01T00:00:00.000+00:00 is there"
    ) in text
