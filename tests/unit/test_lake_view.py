"""Latest rows, rows as of a time, and changes between two times."""

from __future__ import annotations

import pytest

from labctl.errors import ExitCode, LabError
from labctl.lake import View


def test_hides_deleted_rows_unless_asked() -> None:
    assert View().filters(["salesid", "__deleted"]) == ["coalesce(__deleted, 'false') <> 'true'"]
    assert View(deleted=True).filters(["salesid", "__deleted"]) == []
    assert View().filters(["salesid"]) == []


def test_point_in_time_reads_the_end_and_leaves_out_the_beginning() -> None:
    view = View.parse(begin="2023-02-26", end="2023-02-27")
    assert view.at == "20230227000000000"
    assert view.filters([]) == ["_hoodie_commit_time > '20230226000000000'"]


def test_without_an_end_the_point_in_time_is_now() -> None:
    assert View.parse(begin="earliest").at is None


@pytest.mark.parametrize(
    "given",
    [
        {"as_of": "now", "begin": "earliest"},
        {"as_of": "now", "end": "now"},
        {"begin": "now", "end": "earliest"},
        {"begin": "2023-02-27", "end": "2023-02-27"},
        {"as_of": "someday"},
    ],
)
def test_refuses_contradictions(given: dict[str, str]) -> None:
    with pytest.raises(LabError) as caught:
        View.parse(**given)  # type: ignore[arg-type]
    assert caught.value.exit_code is ExitCode.USAGE
