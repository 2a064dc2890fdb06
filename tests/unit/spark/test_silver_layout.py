"""A table keeps the layout it was written with, or says what its properties ask for instead."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from labctl.config.lab_config import find_project
from lakecontract.errors import ConfigurationError
from lakecontract.properties import TableConfig, load_tables
from lakehouse.layout import MERGE_MODE, Layout, check_layout


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
        ({"merge_mode": "COMMIT_TIME_ORDERING"}, "merge.mode=COMMIT_TIME_ORDERING"),
        ({"ordering_field": "changed_at"}, "ordering.fields=changed_at"),
    ],
)
def test_another_layout_is_refused(
    config: TableConfig, changes: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        check_layout(config, layout(config, **changes), config.buckets)
    assert f"{said}, and its properties say hoodie." in raised.value.what
    assert f"{said} back" in str(raised.value.hint)
    assert "labctl table rebuild tickit.sale" in str(raised.value.hint)


def test_all_that_has_changed_is_told_at_once(config: TableConfig) -> None:
    with pytest.raises(ConfigurationError, match=r"buckets=7 and .*table.type=OTHER, and its"):
        check_layout(config, layout(config, table_type="OTHER"), "7")


def test_what_an_older_table_or_its_properties_do_not_say_is_not_compared(
    config: TableConfig,
) -> None:
    check_layout(config, layout(config, merge_mode="", ordering_field=""), config.buckets)
    silent = replace(config, hoodie={k: v for k, v in config.hoodie.items() if k != MERGE_MODE})
    check_layout(silent, layout(config, merge_mode="CUSTOM"), config.buckets)
    assert layout(config, merge_mode="").allows(Layout.wanted(config))
    assert not layout(config, merge_mode="CUSTOM").allows(Layout.wanted(config))


class Properties(dict[str, str]):
    """Hudi's HoodieTableConfig of a table."""

    def getProps(self) -> Properties:  # noqa: N802 - Java's name
        return self

    def getProperty(self, key: str) -> str | None:  # noqa: N802
        return self.get(key)

    def getRecordKeyFields(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(isPresent=lambda: True, get=lambda: ["a", "b"])

    def getPartitionFields(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(isPresent=lambda: False)

    def getTableType(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(name=lambda: "MERGE_ON_READ")


@pytest.mark.parametrize("key", ["hoodie.table.ordering.fields", "hoodie.table.precombine.field"])
def test_a_layout_is_read_from_the_tables_own_properties(key: str) -> None:
    found = Layout.noted(Properties({key: "ts", "hoodie.record.merge.mode": "CUSTOM"}))
    assert found == Layout(("a", "b"), (), "MERGE_ON_READ", "ts", "CUSTOM")
    assert Layout.noted(Properties()) == Layout(("a", "b"), (), "MERGE_ON_READ")
