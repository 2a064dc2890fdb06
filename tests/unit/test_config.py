from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from labctl.config.model import LabConfig, find_project
from labctl.config.tables import PROPERTIES, lab_tables
from labctl.errors import ExitCode, LabError

GOOD = """
name = "tickit"
[sources.mysql]
schema = "ecomm"
connector = "source_connector_mysql_kafka_avro_tickit"
"""


def load(tmp_path: Path, text: str) -> LabConfig:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    return LabConfig.load(path)


def test_the_projects_own_file_is_valid() -> None:
    config = LabConfig.load(Path(__file__).parents[2] / "lab.toml")
    assert config.sources["postgres"].db_schema == "ems"


@pytest.mark.parametrize(
    ("addition", "said"),
    [
        ("nmae = 'x'", "nmae: unknown key; did you mean 'name'?"),
        ("[services.kafka]\nhaep = '1g'", "services.kafka.haep: unknown key; did you mean 'heap'?"),
        ("[services.kafka]\nheap = 'much'", "services.kafka.heap"),
        ("[services.kafka.ports]\nbroker = 80", "services.kafka.ports.broker"),
        ("[services.kafak]\nheap = '1g'", "services.kafak"),
        ("[silver]\nsource = 'files'", "silver.source"),
        ("[profiles.native]\nruntime = 'vm'", "profiles.native.runtime"),
    ],
)
def test_a_bad_value_is_named_with_file_and_key(tmp_path: Path, addition: str, said: str) -> None:
    text = addition + GOOD if addition.startswith("nmae") else GOOD + addition
    with pytest.raises(LabError) as raised:
        load(tmp_path, text)
    assert said in raised.value.what
    assert str(tmp_path / "lab.toml") in raised.value.what
    assert raised.value.exit_code is ExitCode.USAGE


def test_broken_toml_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"line 2"):
        load(tmp_path, "\nname = ?\n")


def test_a_default_profile_must_be_defined(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="'cloud' is not one of the profiles"):
        load(tmp_path, 'profile = "cloud"' + GOOD)


def test_the_project_is_found_from_below(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABCTL_PROJECT", raising=False)
    (tmp_path / "lab.toml").write_text(GOOD)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    assert find_project(below) == tmp_path


def test_no_project_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LABCTL_PROJECT", raising=False)
    with pytest.raises(LabError) as raised:
        find_project(tmp_path)
    assert raised.value.hint is not None
    assert "LABCTL_PROJECT" in raised.value.hint


@pytest.mark.parametrize("name", ["Tickit", "1lab", "a" * 31, "a/b", "", "a\n"])
def test_names_that_cannot_name_a_lab(name: str) -> None:
    assert not LabConfig.valid_name(name)


def test_a_topic_that_names_no_table_is_told_with_its_table(tmp_path: Path) -> None:
    project = Path(__file__).parents[2]
    shutil.copytree(project / PROPERTIES, tmp_path / PROPERTIES)
    file = tmp_path / PROPERTIES / "tickit.ecomm.sale.properties"
    text = file.read_text().replace("tickit.ecomm.sale\n", "tickit.lab.ecomm.sale\n")
    file.write_text(text)
    with pytest.raises(LabError, match=r"table sale .* 'tickit\.lab\.ecomm\.sale'") as raised:
        lab_tables(tmp_path, load(tmp_path, GOOD))
    assert raised.value.exit_code is ExitCode.USAGE
