"""Names of SQL Server's capture instances, also for tables with long names."""

from __future__ import annotations

from labctl.engines.sqlserver.sqlserver_capture_instance import capture_instance
from labctl.sources import TableRef


def test_a_table_with_a_short_name_has_the_default() -> None:
    assert capture_instance(TableRef("dbo", "sale")) is None
    assert capture_instance(TableRef("dbo", "x" * 36)) is None


def test_long_names_are_cut_and_stay_apart() -> None:
    names = [capture_instance(TableRef("dbo", f"{'x' * 50}{n}")) for n in range(9)]
    names.append(capture_instance(TableRef("dbo", "ü" * 30)))
    assert len(set(names)) == 10
    for name in names:
        assert name is not None
        assert name.startswith("dbo_")
        assert len(name.encode()) <= 40
