"""`lab.toml`: what is valid, what is refused and how that is said."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from labctl.config.lab_config import OPTIONAL, LabConfig, find_project
from labctl.errors import ExitCode, LabError
from labctl.services.lab_services import load_config, services_of
from labctl.tables import CONNECTORS, PROPERTIES, LabTable, lab_tables

GOOD = """
name = "tickit"
[sources.mysql]
engine = "mysql"
schemas = ["ecomm"]
connector = "source_connector_mysql_kafka_avro_tickit"
"""


def load(tmp_path: Path, text: str) -> LabConfig:
    path = tmp_path / "lab.toml"
    path.write_text(text)
    return load_config(path)


def test_the_projects_own_file_is_valid() -> None:
    config = LabConfig.load(Path(__file__).parents[2] / "lab.toml")
    assert config.sources["postgres"].schemas == ("ems",)


@pytest.mark.parametrize(
    ("addition", "said"),
    [
        ("nmae = 'x'", "nmae: unknown key; did you mean 'name'?"),
        ("[services.kafka]\nhaep = '1g'", "services.kafka.haep: unknown key; did you mean 'heap'?"),
        ("[services.kafka]\nheap = 'much'", "services.kafka.heap"),
        ("[services.kafka.ports]\nbroker = 80", "services.kafka.ports.broker"),
        (
            "[services.kafak]\nheap = '1g'",
            "services.kafak: there is no such service; did you mean 'kafka'?",
        ),
        (
            "[profiles.native]\nruntime = 'compose'\nimage = { valkey = 'x' }",
            "profiles.native.image.valkey: there is no such service; known: postgres, mysql",
        ),
        ("[silver]\nsource = 'files'", "silver.source"),
        *(
            (f"[lake]\nretention = {value}", "lake.retention: write a number and a unit")
            for value in ("'30 days'", "'0d'", "'d'", "30", "''")
        ),
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


@pytest.mark.parametrize(
    ("section", "seconds"),
    [
        ("", None),
        ("[lake]\nretention = '90s'", 90),
        ("[lake]\nretention = '15m'", 900),
        ("[lake]\nretention = '12h'", 43_200),
        ("[lake]\nretention = '30d'", 2_592_000),
    ],
)
def test_bronze_is_kept_for_its_retention(
    tmp_path: Path, section: str, seconds: int | None
) -> None:
    assert load(tmp_path, GOOD + section).lake.retention_seconds == seconds


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


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('engine = "mysql"\ndatabase = "ecomm"\nschemas = ["ecomm"]', "its schemas: leave it out"),
        ('engine = "postgres"\nschemas = ["public"]', "name the database"),
        ('engine = "postgres"\ndatabase = "shop"\nschemas = []', "sources.shop.schemas"),
        ('engine = "oracle"\nschemas = ["shop"]', "sources.shop.engine"),
    ],
)
def test_a_source_that_cannot_be(tmp_path: Path, source: str, said: str) -> None:
    with pytest.raises(LabError) as raised:
        load(tmp_path, f'{GOOD}[sources.shop]\n{source}\nconnector = "source_shop"\n')
    assert said in f"{raised.value.what} {raised.value.details}"


def test_sources_that_do_not_go_together(tmp_path: Path) -> None:
    again = GOOD.replace("sources.mysql", "sources.other").replace('name = "tickit"', "")
    with pytest.raises(LabError, match=r"captures sources\.mysql already"):
        load(tmp_path, GOOD + again)
    with pytest.raises(LabError, match="cannot be called so"):
        load(tmp_path, GOOD.replace("sources.mysql", "sources.kafka"))


def test_what_a_lab_may_lack_is_there_once_it_is_switched_on() -> None:
    config = LabConfig.load(PROJECT / "lab.toml")
    before = {service.name for service in services_of(config)}
    after = {service.name for service in services_of(config.switching_on(OPTIONAL))}
    assert after - before == set(OPTIONAL) == {"cache", "api", "metastore", "thriftserver"}


def test_services_follow_from_the_sources(tmp_path: Path) -> None:
    names = {service.name for service in services_of(load(tmp_path, GOOD))}
    assert "mysql" in names
    assert "sqlserver" not in names
    assert {"postgres", "kafka", "connect", "registry", "objectstore", "silver"} <= names


PROJECT = Path(__file__).parents[2]


def project_of(tmp_path: Path, connectors: dict[str, dict[str, str]], topics: list[str]) -> Path:
    (tmp_path / PROPERTIES).mkdir(parents=True)
    shutil.copy(PROJECT / PROPERTIES / "base.properties", tmp_path / PROPERTIES)
    sale = (PROJECT / PROPERTIES / "tickit.ecomm.sale.properties").read_text()
    for number, topic in enumerate(topics):
        text = sale.replace("tickit.ecomm.sale", topic).replace(
            "hoodie.table.name=sale", f"hoodie.table.name=sale_{number}"
        )
        (tmp_path / PROPERTIES / f"{topic}.properties").write_text(text)
    (tmp_path / CONNECTORS).mkdir()
    for name, config in connectors.items():
        (tmp_path / CONNECTORS / f"{name}.json").write_text(
            json.dumps({"connector.class": "x"} | config)
        )
    return tmp_path


TWO_DATABASES = """
[sources.shop]
engine = "postgres"
database = "shop"
schemas = ["public", "audit"]
connector = "source_shop"
[sources.stock]
engine = "postgres"
database = "stock"
schemas = ["public"]
connector = "source_stock"
[sources.crm]
engine = "sqlserver"
database = "crm"
schemas = ["dbo"]
connector = "source_crm"
"""
PREFIXES = {
    "source_shop": {"topic.prefix": "eu.shop"},
    "source_stock": {
        "topic.prefix": "stock",
        "transforms": "unwrap,route",
        "transforms.route.type": "org.apache.kafka.connect.transforms.RegexRouter",
        "transforms.route.regex": "stock[.]([^.]+)[.](.+)",
        "transforms.route.replacement": "warehouse-$2",
    },
    "source_crm": {"topic.prefix": "crm"},
}


def test_a_topic_tells_source_schema_and_table(tmp_path: Path) -> None:
    """Topics of any number of parts: Debezium's names, then what transforms make of them."""
    topics = ["crm.crm.dbo.customer", "eu.shop.audit.log", "eu.shop.public.order", "warehouse-item"]
    project = project_of(tmp_path, PREFIXES, topics)
    for file in (project / PROPERTIES).glob("warehouse*"):
        file.rename(file.with_name("warehouse.public.item.properties"))
    found = {t.topic: (t.source, t.db_schema, t.source_name) for t in tables(tmp_path)}
    assert found == {
        "crm.crm.dbo.customer": ("crm", "dbo", "customer"),
        "eu.shop.audit.log": ("shop", "audit", "log"),
        "eu.shop.public.order": ("shop", "public", "order"),
        "warehouse-item": ("stock", "public", "item"),
    }


def tables(folder: Path) -> list[LabTable]:
    return lab_tables(folder, load(folder, TWO_DATABASES))


def test_a_topic_that_no_source_writes_is_told_with_file_and_line(tmp_path: Path) -> None:
    project_of(tmp_path, PREFIXES, ["eu.shop.private.order"])
    with pytest.raises(LabError) as raised:
        tables(tmp_path)
    assert raised.value.exit_code is ExitCode.USAGE
    assert re.search(r"eu\.shop\.private\.order\.properties:\d+: no source", raised.value.what)
    assert "eu.shop.public.…" in (raised.value.hint or "")


def test_a_topic_of_two_sources_is_refused(tmp_path: Path) -> None:
    same = PREFIXES | {"source_stock": {"topic.prefix": "eu.shop"}}
    project_of(tmp_path, same, ["eu.shop.public.order"])
    with pytest.raises(LabError, match=r"written by sources\.shop and sources\.stock"):
        tables(tmp_path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("nmae = 'x'" + GOOD, 1),
        (GOOD + "[services.kafka]\n# how much\nheap = 'much'", 9),
        (GOOD + "services.kafka.heap = 'much'", 7),
        (GOOD + "[services.kafak]\nheap = '1g'", 7),
        (GOOD.replace('engine = "mysql"\n', ""), 3),
    ],
)
def test_a_bad_value_is_named_with_its_line(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(LabError) as raised:
        load(tmp_path, text)
    assert raised.value.what.startswith(f"{tmp_path / 'lab.toml'}:{line} is not usable")
