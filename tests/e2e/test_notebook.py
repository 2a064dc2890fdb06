"""The notebook runs from its first cell to its last, on the suite's lab."""

from __future__ import annotations

import ast
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from labctl.lab.lab import Lab
from tests.e2e.fault_trial import Verify

pytestmark = pytest.mark.long

if TYPE_CHECKING:
    from nbformat import NotebookNode

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "silver.ipynb"
CELL_SECONDS = 600


@pytest.fixture(scope="module")
def run(lab: Lab, lab_project: Path, tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    """The notebook with what its cells have printed. A cell that fails fails the test."""
    # Not above: they take seconds to import, in each worker.
    import nbformat
    from nbclient import NotebookClient

    own = tmp_path_factory.mktemp("jupyter")
    client = NotebookClient(
        nbformat.read(NOTEBOOK, as_version=4),
        kernel_name="python3",
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(lab_project)}},
    )
    return client.execute(
        env={
            **os.environ,
            "LABCTL_LAB_NAME": lab.name,
            "LABCTL_PROFILE": lab.profile,
            "IPYTHONDIR": str(own),
            "MPLCONFIGDIR": str(own),
        }
    )


def test_time_travel_shows_the_price_of_each_moment(run: NotebookNode) -> None:
    (line,) = (line for line in printed(run).splitlines() if line.startswith("{'before'"))
    prices = ast.literal_eval(line)
    (before,), (updated,) = prices["before"], prices["updated"]
    assert updated == before + 100
    assert prices["deleted"] == []


def test_the_row_is_seen_updated_deleted_and_back(run: NotebookNode) -> None:
    lines = ([cell.strip() for cell in line.split("|")] for line in printed(run).splitlines())
    operations = [cells[4] for cells in lines if cells[1:2] == ["200"]]
    start = operations[0]
    assert operations == [
        start,
        "u",  # updated
        *("u", start),  # time travel: to the future, to before
        *("u", start, "u"),  # point in time: until the future, until before, since before
        "d",  # deleted: shown to those who ask
        *("u", start),  # time travel to before the delete
        "c",  # back
    ]


def test_there_are_two_plots(run: NotebookNode) -> None:
    outputs = [output for cell in run.cells for output in cell.get("outputs", ())]
    assert sum("image/png" in output.get("data", {}) for output in outputs) == 2


def test_the_row_is_put_back(run: NotebookNode, verify_equal: Verify) -> None:
    verify_equal("sale")


def printed(run: NotebookNode) -> str:
    """What the cells wrote to standard output."""
    outputs = [output for cell in run.cells for output in cell.get("outputs", ())]
    return "".join(one["text"] for one in outputs if one.get("name") == "stdout")
