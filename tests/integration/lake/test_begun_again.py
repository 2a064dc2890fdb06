"""A table that is removed and written again while somebody reads it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hudi import HudiTable as Reader
from pyspark.sql import SparkSession

from labctl.errors import ExitCode, LabError
from labctl.lake import Lake
from sqlapi.hudi import opened
from sqlapi.table_folder import TableFolder
from tests.integration.lake.tables import COW, MOR, HudiTable

pytestmark = [
    pytest.mark.long,
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
]


@dataclass
class Removed:
    """hudi-rs's reader of a table that is removed while its files are listed, commits last."""

    reader: Reader
    table: TableFolder

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def get_file_slices(self, *options: Any) -> Any:
        for entry in self.table.list():
            if entry.extension == "parquet":
                self.table.filesystem.delete_file(entry.path)
        slices = self.reader.get_file_slices(*options)
        for entry in self.table.list(".hoodie/timeline"):
            if entry.is_file:
                self.table.filesystem.delete_file(entry.path)
        return slices


@pytest.mark.parametrize("kind", [COW, MOR])
def test_a_table_that_is_begun_again_is_never_read_by_halves(
    kind: str, spark: SparkSession, lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = HudiTable(spark, lake.storage.spark_uri, f"begun_again_{kind.lower()}", kind)
    for key in (1, 2):
        written.change([key])
    table = lake.table(written.name)
    open_reader = opened.open_table
    with monkeypatch.context() as removal:
        removal.setattr(opened, "open_table", lambda folder: Removed(open_reader(folder), folder))
        with pytest.raises(LabError, match="has no commit yet") as caught:
            table.read()
    assert caught.value.exit_code is ExitCode.NOT_READY
    lake.storage.filesystem.delete_dir_contents(f"{lake.storage.root}/{table.path}")
    written.change([3])
    assert table.read(columns=["salesid"]).to_pylist() == [{"salesid": 3}]
