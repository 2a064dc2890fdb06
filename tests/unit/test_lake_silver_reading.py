"""What is said when hudi-rs cannot read a table, by what is there of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from labctl.errors import ExitCode, LabError
from labctl.lake.objectstore import LakeStorage
from labctl.lake.safe_reading import reading
from labctl.lake.silver_table import SilverTable


class HudiCoreError(Exception):
    """Called as hudi-rs calls its own, which it does not export."""


@pytest.mark.parametrize("remains", ["", ".hoodie/timeline"])
def test_a_table_that_is_begun_again_while_it_is_read_has_no_commit_yet(
    tmp_path: Path, remains: str
) -> None:
    (tmp_path / "silver/sale" / remains).mkdir(parents=True)
    if remains:
        properties = "hoodie.table.version=9\nhoodie.table.type=MERGE_ON_READ\n"
        (tmp_path / "silver/sale/.hoodie/hoodie.properties").write_text(properties)
    table = SilverTable("tickit.sale", "silver/sale", LakeStorage.local(tmp_path))

    def read() -> None:
        raise HudiCoreError("File not found")

    with pytest.raises(LabError, match="sale has no commit yet") as caught:
        reading([table], read)
    assert caught.value.exit_code is ExitCode.NOT_READY
