"""The package could be deployed alone."""

from __future__ import annotations

import subprocess
import sys


def test_nothing_of_the_lab_is_imported() -> None:
    loaded = "import sys, lakeapi.app, lakeapi.__main__; print(*sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", loaded], capture_output=True, text=True, check=True
    )
    tops = {name.partition(".")[0] for name in ended.stdout.split()}
    assert "lakeapi" in tops
    assert not tops & {"labctl", "sqlapi", "seeds", "pyarrow", "pandas", "duckdb"}
