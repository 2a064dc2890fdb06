"""A table that cannot be captured is refused beforehand, by name, and nothing is changed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from labctl.errors import ExitCode
from labctl.lab.lab import Lab
from labctl.sources import Source, TableRef

pytestmark = pytest.mark.long

Labctl = Callable[..., "subprocess.CompletedProcess[str]"]


def test_of_every_engine(
    source: Callable[[str], Source], lab: Lab, labctl: Labctl, new_key: Callable[[], int]
) -> None:
    for name, settings in lab.config.sources.items():
        database = source(name)
        ref = TableRef(settings.schemas[0], f"odd_{new_key()}")
        columns = ", ".join(
            f"{database.quote(column)} int" for column in ("__kafka_offset", "unit price")
        )
        database.execute(
            f"CREATE TABLE {database.qualified(ref)} (id int NOT NULL PRIMARY KEY, {columns})"
        )
        try:
            _is_refused(f"{name}.{ref}", lab, labctl)
        finally:
            database.execute(f"DROP TABLE {database.qualified(ref)}")


def _is_refused(table: str, lab: Lab, labctl: Labctl) -> None:
    done = labctl("table", "check", table, "--lab", lab.name, "--output", "json")
    assert done.returncode == ExitCode.USAGE, done.stderr
    (checked,) = json.loads(done.stdout)["columns"]
    verdicts = {one["column"]: one["verdict"] for one in checked["columns"]}
    assert verdicts == {"id": "exact", "__kafka_offset": "refused", "unit price": "exact"}
    silver = {one["column"]: one["silver"] for one in checked["columns"]}
    assert silver["unit price"] == "unit_price"
    files = _files(lab)
    done = labctl("table", "add", table, "--lab", lab.name)
    assert done.returncode == ExitCode.USAGE, done.stderr
    said = " ".join(done.stderr.split())
    assert "its column '__kafka_offset'" in said
    assert "column.exclude.list" in said
    assert _files(lab) == files


def _files(lab: Lab) -> dict[Path, bytes]:
    folders = [lab.project / "connectors", *map(lab.project.joinpath, lab.config.silver.properties)]
    found = (path for folder in folders for path in folder.iterdir() if path.is_file())
    return {path: path.read_bytes() for path in found}
