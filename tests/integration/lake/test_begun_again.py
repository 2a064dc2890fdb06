"""A table that is removed and written again while somebody reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hudi import HudiTable as Reader
from pyspark.sql import SparkSession

from labctl.errors import ExitCode, LabError
from labctl.lake import Lake, silver_table
from labctl.lake.silver_table import SilverTable
from tests.integration.lake.tables import COW, MOR, HudiTable

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@dataclass
class Removed:
    """hudi-rs's reader of a table that is removed while its files are listed, commits last."""

    reader: Reader
    table: SilverTable

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def get_file_slices(self, *options: Any) -> Any:
        storage, path = self.table.storage, self.table.path
        for entry in storage.list(path):
            if entry.extension == "parquet":
                storage.filesystem.delete_file(entry.path)
        slices = self.reader.get_file_slices(*options)
        for entry in storage.list(f"{path}/.hoodie/timeline"):
            if entry.is_file:
                storage.filesystem.delete_file(entry.path)
        return slices


@pytest.mark.parametrize("kind", [COW, MOR])
def test_a_table_that_is_begun_again_is_never_read_by_halves(
    kind: str, spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = HudiTable(spark, lake.storage.spark_uri, f"begun_again_{kind.lower()}", kind)
    for key in (1, 2):
        written.change([key])
    table = lake.table(written.name)
    open_reader = silver_table.open_table
    with monkeypatch.context() as removal:
        removal.setattr(
            silver_table, "open_table", lambda source: Removed(open_reader(source), source)
        )
        with pytest.raises(LabError, match="has no commit yet") as caught:
            table.read()
    assert caught.value.exit_code is ExitCode.NOT_READY
    lake.storage.filesystem.delete_dir_contents(f"{lake.storage.root}/{table.path}")
    written.change([3])
    assert table.read(columns=["salesid"]).to_pylist() == [{"salesid": 3}]
