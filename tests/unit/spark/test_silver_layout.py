"""A table keeps the layout it was written with, or says what its properties ask for instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.config.model import find_project
from lakehouse.errors import ConfigurationError
from lakehouse.layout import Layout, check_layout
from lakehouse.properties import TableConfig, load_tables


@pytest.fixture(scope="module")
def config() -> TableConfig:
    folder = find_project(Path(__file__)) / "spark" / "properties"
    return next(one for one in load_tables([folder]) if one.name == "tickit.sale")


def layout(config: TableConfig, **changes: object) -> Layout:
    return Layout(**{**_fields(Layout.wanted(config)), **changes})  # type: ignore[arg-type]


def _fields(layout: Layout) -> dict[str, object]:
    return {name: getattr(layout, name) for name in layout.__slots__}


def test_a_new_table_and_an_unchanged_one_fit(config: TableConfig) -> None:
    check_layout(config, None, "")
    check_layout(config, layout(config), config.buckets)
    check_layout(config, layout(config), "")  # Written before the number was noted.


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"key_fields": ("listid", "saleid")}, "recordkey.field=listid,saleid"),
        ({"partition_fields": ("caldate",)}, "partitionpath.field=caldate"),
        ({"table_type": "COPY_ON_READ"}, "table.type=COPY_ON_READ"),
    ],
)
def test_another_layout_is_refused(
    config: TableConfig, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        check_layout(config, layout(config, **changes), config.buckets)
    assert f"{said}, and its properties say hoodie." in raised.value.what
    assert f"{said} back" in str(raised.value.hint)
    assert "labctl rebuild tickit.sale" in str(raised.value.hint)


def test_all_that_has_changed_is_told_at_once(config: TableConfig) -> None:
    with pytest.raises(ConfigurationError, match=r"buckets=7 and .*table.type=OTHER, and its"):
        check_layout(config, layout(config, table_type="OTHER"), "7")
