"""`labctl --help`: every command, named without importing what it needs."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from labctl.cli import COMMANDS, SECTIONS, _first_word
from labctl.errors import ExitCode

SCRIPT = """
import sys
from labctl.cli import main
sys.argv = ["labctl", "--help"]
try:
    main()
finally:
    print("imported", sorted({"pydantic", "pyarrow", "rich"} & set(sys.modules)))
"""


BEFORE_IT_ASKS = """
import sys
import labctl.lab.lab, labctl.lake
print("imported", sorted({"boto3", "confluent_kafka", "duckdb", "requests"} & set(sys.modules)))
"""


def test_a_lab_and_its_lake_are_found_without_the_clients_of_services() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEFORE_IT_ASKS], capture_output=True, text=True, check=True
    )
    assert done.stdout == "imported []\n"


STATUS = """
import sys
import labctl.cli.status
slow = {"boto3", "botocore", "cryptography", "duckdb", "hudi", "pyarrow", "pymysql"}
print("imported", sorted(slow & set(sys.modules)))
"""


def test_status_is_imported_without_arrow_and_clients_of_databases_that_are_slow_to_load() -> None:
    done = subprocess.run(
        [sys.executable, "-c", STATUS], capture_output=True, text=True, check=True
    )
    assert done.stdout == "imported []\n"


def test_every_command_is_named_and_none_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True
    )
    first, *_ = SECTIONS
    *lines, imported = done.stdout.split(f"{first}:")[1].splitlines()
    listed = [line for line in lines if line.startswith("  ")]
    assert [line.split()[0] for line in listed] == [*COMMANDS]
    assert [line.rstrip(":") for line in lines if line and line not in listed] == [*SECTIONS][1:]
    assert not [line for line in lines if line.endswith("...")]
    assert imported == "imported []"


@pytest.mark.parametrize("before", [[], ["--lab", "a"]])
def test_the_old_name_of_a_command_is_answered_with_the_new_one(before: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labctl", *before, "tables", "import", "x"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == ExitCode.USAGE
    assert "labctl table import" in done.stderr


def test_a_lab_may_be_called_as_a_command_was() -> None:
    assert _first_word(["--lab", "tables", "up"]) == "up"
    assert _first_word(["--lab=a", "tables", "import"]) == "tables"
    assert _first_word(["--help"]) is None


def test_the_version_is_printed_with_pythons() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labctl", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"labctl {version('labctl')}, Python 3.")
    assert done.stdout.count("\n") == 1
