"""Two sources of one engine on AWS: databases, logins, secrets and SQL of each."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from labctl.errors import LabError
from labctl.promote import Promotion, load_promotion
from labctl.promote.plan import Plan, render
from labctl.services.lab_services import load_config

FIRST = "source_connector_postgres_kafka_avro_tickit"
SECOND = "source_connector_postgres_shop"


def add_shop(project: Path, *, slot: str = "shop", database: str = "shop") -> Promotion:
    """The project with a second PostgreSQL source, which captures the table `Sales.lines`."""
    lab_toml = project / "lab.toml"
    section = (
        f'[sources.shop]\nengine = "postgres"\ndatabase = "{database}"\nschemas = ["Sales"]\n'
        f'connector = "{SECOND}"\n\n[silver]'
    )
    lab_toml.write_text(lab_toml.read_text().replace("[silver]", section, 1))
    connectors, properties = project / "connectors", project / "spark" / "properties"
    text = (connectors / f"{FIRST}.json").read_text().replace("demo/postgres", "demo/shop")
    config = json.loads(text) | {
        "topic.prefix": "shop",
        "slot.name": slot,
        "schema.include.list": "Sales",
    }
    (connectors / f"{SECOND}.json").write_text(json.dumps(config))
    table = (properties / "tickit.ems.category.properties").read_text()
    table = table.replace("tickit.ems.category", "shop.Sales.lines").replace("=category", "=lines")
    (properties / "shop.Sales.lines.properties").write_text(table)
    return load_promotion(project, load_config(lab_toml), "aws")


def script(plan: Plan, source: str) -> str:
    return plan.texts[f"sql/{source}.sql"].decode()


def test_each_source_has_its_database_and_a_login_with_its_own_password(project: Path) -> None:
    plan = render(add_shop(project), None)
    resources = plan.templates["foundation"]["Resources"].values()
    logins = {
        properties["Name"]: json.loads(generated["SecretStringTemplate"])["username"]
        for resource in resources
        if (properties := resource["Properties"])
        and (generated := properties.get("GenerateSecretString"))
    }
    assert logins["demo/postgres"] == "debezium"
    assert logins["demo/shop"] == "debezium_shop"
    for source, database, login in (
        ("postgres", "tickit", "debezium"),
        ("shop", "shop", "debezium_shop"),
    ):
        text = script(plan, source)
        assert f'\\connect "{database}"' in text
        assert set(re.findall(r"\bdebezium\w*(?=[ ;'])", text)) == {login}
    parameters = plan.templates["data"]["Resources"]["PostgresParameters"]["Properties"]
    assert parameters["Parameters"]["max_replication_slots"] == "10"


def test_two_sources_of_one_database_may_share_a_publication(project: Path) -> None:
    plan = render(add_shop(project, database="tickit"), None)
    statements = {
        re.findall("SET TABLE (.*);", script(plan, source))[0] for source in ("postgres", "shop")
    }
    (tables,) = statements
    assert {'"ems"."category"', '"Sales"."lines"'} <= set(tables.split(", "))


def test_two_connectors_with_one_slot_are_refused(project: Path) -> None:
    with pytest.raises(LabError, match=r"slot\.name: \w+ is .* already"):
        add_shop(project, slot=json.loads(
            (project / "connectors" / f"{FIRST}.json").read_text()
        )["slot.name"])  # fmt: skip
