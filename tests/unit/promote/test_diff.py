"""`promote diff`: what differs between profiles, and since a plan."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

import labctl.cli.promote  # noqa: F401 - registers the commands
from labctl.cli.app import root
from labctl.config.lab_config import LabConfig
from labctl.errors import LabError
from labctl.promote.diff import Difference, differences
from labctl.promote.plan import render, write_plan
from labctl.promote.promoted_values import Setting, Settings, profile_values, read_values
from tests.connector_file import raise_by_one
from tests.unit.promote.conftest import Promote

CONNECTOR = "source_connector_mysql_kafka_avro_tickit"
KEY = "poll.interval.ms"

Values = Callable[[str], Settings]


@pytest.fixture
def values(project: Path) -> Values:
    return lambda name: profile_values(project, LabConfig.load(project / "lab.toml"), name)


def change_one_digit(project: Path) -> tuple[str, str]:
    return raise_by_one(project / "connectors" / f"{CONNECTOR}.json", KEY)


def test_one_changed_digit_is_the_only_difference(
    promote: Promote, project: Path, tmp_path: Path, values: Values
) -> None:
    write_plan(render(promote(), None), tmp_path / "plan")
    planned = read_values(tmp_path / "plan" / "values.json")
    assert differences(planned, values("aws")) == []
    before, after = change_one_digit(project)
    source = f"connectors/{CONNECTOR}.json"
    assert differences(planned, values("aws")) == [
        Difference(
            f"connector {CONNECTOR} / {KEY}",
            Setting(before, source),
            Setting(after, source),
        )
    ]


def test_no_file_of_a_connector_differs_between_profiles(project: Path, values: Values) -> None:
    change_one_digit(project)
    native, aws = values("native"), values("aws")
    assert not [d for d in differences(native, aws) if d.name.startswith("connector ")]


def test_what_differs_says_where_it_comes_from(values: Values) -> None:
    found = {d.name: d for d in differences(values("native"), values("aws"))}
    bucket = found["reference demo/objectstore / bucket"]
    assert bucket.before == Setting("tickit-lake", "labctl/services/reference_files.py")
    assert bucket.after == Setting("tickit-lake-111122223333", "lab.toml: profiles.aws.lake")
    version = found["hudi, every table / hoodie.write.table.version"]
    assert version.before is None
    assert version.after == Setting("6", "lab.toml: profiles.aws.glue")
    for difference in found.values():
        for setting in (difference.before, difference.after):
            assert setting is None or setting.source


def test_a_guard_that_is_taken_away_is_shown(
    promote: Promote, project: Path, tmp_path: Path, values: Values
) -> None:
    write_plan(render(promote(), None), tmp_path / "plan")
    toml = project / "lab.toml"
    toml.write_text(toml.read_text().replace("protection = true", "protection = false"))
    origin = "lab.toml: profiles.aws.rds.postgres.deletion_protection"
    assert differences(read_values(tmp_path / "plan" / "values.json"), values("aws")) == [
        Difference(
            "guard / rds.postgres.deletion_protection",
            Setting("true", origin),
            Setting("false", origin),
        )
    ]


def test_the_tables_properties_mean_the_same(values: Values) -> None:
    found = differences(values("native"), values("aws"))
    assert not [d for d in found if d.name.startswith("hudi ")]


def test_no_secret_is_a_value(values: Values) -> None:
    for name in ("native", "aws"):
        for key, setting in values(name).items():
            if key.endswith((".password", "secret.key", "/ password")):
                assert setting.value == "" or setting.value.startswith(("(secret)", "${")), key
            if match := re.search('password="?([^"]*)', setting.value):
                assert match[1] == "(secret)", key


def test_a_profile_or_folder_that_is_none_is_refused(values: Values, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="There is no profile 'azure'"):
        values("azure")
    with pytest.raises(LabError, match="holds no plan that can be compared"):
        read_values(tmp_path / "values.json")


def test_the_command_line_plans_and_compares(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    runner = CliRunner()
    planned = runner.invoke(root, ["promote", "plan", "--without-artifacts"])
    assert planned.exit_code == 0, planned.output
    assert (project / "promoted" / "aws" / "plan" / "README.md").is_file()
    assert "nothing differs" in runner.invoke(root, ["promote", "diff"]).stdout
    change_one_digit(project)
    changed = runner.invoke(root, ["promote", "diff"]).stdout.splitlines()
    assert changed[0] == f"connector {CONNECTOR} / {KEY}"
    assert changed[1].startswith("  - 50 ")
    assert changed[2].startswith("  + 51 ")
    assert changed[3:] == ["1 setting differs"]


def test_a_plan_that_is_refused_is_not_written(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toml = project / "lab.toml"
    toml.write_text(toml.read_text().replace("mcu = 1", "mcu = 3"))
    monkeypatch.chdir(project)
    refused = CliRunner().invoke(root, ["promote", "plan"])
    assert refused.exit_code == 2
    assert "lab.toml: profiles.aws.connect.mcu: a worker cannot have 3 units" in refused.stderr
    assert not (project / "promoted").exists()
