"""`labctl --help`: every command, named without importing what it needs."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version

import pytest

from labctl.cli import COMMANDS, SECTIONS, _as_today

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


@pytest.mark.parametrize(
    ("typed", "today"),
    [
        (["tables", "import"], ["table", "import"]),
        (["--lab", "a", "psql", "-c", "sql"], ["--lab", "a", "client", "psql", "-c", "sql"]),
        (["--lab=a", "sql"], ["--lab=a", "athena", "shell"]),
        (["latency", "run", "idle"], ["test", "latency", "run", "idle"]),
    ],
)
def test_the_old_name_of_a_command_still_works_and_says_the_new_one(
    typed: list[str], today: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _as_today(typed) == today
    (note,) = capsys.readouterr().err.splitlines()
    new = next(word for word in today if word not in typed)
    assert f" is `labctl {new}" in note


@pytest.mark.parametrize("typed", [["--lab", "tables", "up"], ["--help"], ["up", "kafka"], []])
def test_a_lab_or_a_service_may_be_called_as_a_command_was(
    typed: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert _as_today(typed) == typed
    assert capsys.readouterr().err == ""


def test_no_more_than_25_commands_are_at_the_top() -> None:
    assert len(COMMANDS) <= 25


@pytest.mark.parametrize("group", [name for name, one in COMMANDS.items() if one.commands])
def test_a_group_names_its_commands_and_imports_only_the_one_that_was_typed(group: str) -> None:
    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-X", "importtime", "-m", "labctl", group, *words, "--help"],
            capture_output=True,
            text=True,
            check=True,
        )
        imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
        wanted = {COMMANDS[group].commands[word].module for word in words}
        others = {one.module for one in COMMANDS[group].commands.values()} - wanted
        assert not {f"labctl.cli.{module}" for module in others} & imported
        return done.stdout

    said = run()
    for name, command in COMMANDS[group].commands.items():
        assert re.search(rf"^  {name} +{re.escape(command.summary)}$", said, re.MULTILINE)
    first, *_ = COMMANDS[group].commands
    assert f"labctl {group} {first} " in run(first)


def test_the_version_is_printed_with_pythons() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "labctl", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith(f"labctl {version('labctl')}, Python 3.")
    assert done.stdout.count("\n") == 1
