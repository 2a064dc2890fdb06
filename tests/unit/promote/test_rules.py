"""Each pre-flight rule refuses its bad example by file and key; the shipped example is clean."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from labctl.errors import ExitCode, LabError
from labctl.promote.plan import render
from labctl.promote.rules import RULES, Finding, Subject, check, require_sound
from tests.unit.promote.bad_api_examples import API, BAD_API, HTTPS
from tests.unit.promote.bad_examples import BAD as BAD_OTHERS
from tests.unit.promote.bad_examples import MYSQL_FILE, Bad
from tests.unit.promote.bad_guards import BAD_GUARDS
from tests.unit.promote.conftest import Promote

BAD = [*BAD_OTHERS, *BAD_API, *BAD_GUARDS]


def findings_of(bad: Bad, promote: Promote, project: Path) -> list[Finding]:
    if bad.connector:
        name, key, value = bad.connector
        path = project / "connectors" / name
        config = json.loads(path.read_text())
        config[key] = value
        if value is None:
            del config[key]
        path.write_text(json.dumps(config))
    if bad.file:
        path = project / bad.file[0]
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(bad.file[1])
    if bad.rename:
        old = MYSQL_FILE.removesuffix(".json")
        (project / "connectors" / MYSQL_FILE).rename(project / "connectors" / f"{bad.rename}.json")
        toml = project / "lab.toml"
        toml.write_text(toml.read_text().replace(old, bad.rename))
    if bad.removed:
        (project / bad.removed).unlink()
    promotion = promote(bad.profile, bad.lab)
    plan = render(promotion, None)
    if bad.plan:
        plan = bad.plan(plan)
    return list(RULES[bad.rule](Subject(promotion, replace(plan, complete=bad.complete))))


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: f"{bad.rule}-{bad.says[:24]}")
def test_a_rule_refuses_its_bad_example(bad: Bad, promote: Promote, project: Path) -> None:
    findings = findings_of(bad, promote, project)
    matching = [f for f in findings if bad.says in f.reason]
    assert matching, [str(finding) for finding in findings]
    where = bad.where if ":" in bad.where and "/" in bad.where else f"profiles.aws.{bad.where}"
    assert any(where in finding.where for finding in matching)
    assert all(finding.fix for finding in matching)


@pytest.mark.parametrize("name", list(RULES))
def test_every_rule_has_a_bad_example(name: str) -> None:
    assert [bad for bad in BAD if bad.rule == name]


def test_the_example_is_clean_through_every_rule(promote: Promote) -> None:
    promotion = promote()
    assert check(promotion, render(promotion, None)) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"msk.kind": "serverless", "emr.kind": "serverless", "emr.python": "python.tar.gz"},
        {
            "network.egress": "endpoints",
            "network.route_tables": ["rtb-0a1b2c3d"],
            "connect.workers": None,
            "connect.autoscaling": {"min_workers": 1, "max_workers": 2},
            "connect.connectors": "cloudformation",
        },
        {
            "msk.authentication": ["iam", "scram", "none"],
            "msk.scram_secret": "AmazonMSK_tickit",
            "msk.kms_key": "arn:aws:kms:us-east-1:111122223333:key/0",
            "emr.hudi": "release",
            "registry.security_group": "sg-0a1b2c3d",
            "connect.sink": {"file": "plugins/sink.zip"},
            "rds.sqlserver.create": True,
            "lake.create": False,
        },
    ],
    ids=["serverless", "endpoints", "scram"],
)
def test_other_shapes_are_clean_too(promote: Promote, changes: dict[str, Any]) -> None:
    promotion = promote(changes)
    assert check(promotion, render(promotion, None)) == []


@pytest.mark.parametrize(
    ("changes", "lab"),
    [
        ({"api.cache_nodes": 1, "api.plain_http": True}, API),
        (HTTPS, API),
        (HTTPS, {"api.enabled": True}),
        (HTTPS | {"network.egress": "endpoints", "network.route_tables": ["rtb-0a1b2c3d"]}, API),
    ],
    ids=["one node, http", "https", "no cache", "endpoints"],
)
def test_the_lake_api_is_clean(
    promote: Promote, changes: dict[str, Any], lab: dict[str, Any]
) -> None:
    promotion = promote(changes, lab)
    assert check(promotion, render(promotion, None)) == []


def test_all_findings_are_told_at_once(promote: Promote) -> None:
    promotion = promote({"connect.mcu": 3, "rds.mysql.backup_days": 0})
    with pytest.raises(LabError) as raised:
        require_sound(promotion, render(promotion, None))
    error = raised.value
    assert error.exit_code is ExitCode.USAGE
    assert "and 1 more" in error.what
    assert [line.split(": ")[1] for line in error.details] == [
        "profiles.aws.connect.mcu",
        "profiles.aws.rds.mysql.backup_days",
    ]
