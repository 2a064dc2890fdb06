"""Who may write what: of whole plans, in all their shapes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

import lakecontract
import lakehouse
from labctl.promote import Promotion
from labctl.promote.artifacts import PROGRAMS
from labctl.promote.emr_application import application_arguments
from labctl.promote.plan import Plan, render
from labctl.promote.plugins import plugin_of
from labctl.promote.rules import RULES, Subject
from lakecontract.lake_folders import OWN_FOLDERS
from tests.unit.promote.bad_api_examples import API, HTTPS
from tests.unit.promote.conftest import Promote

LAKE, ARTIFACTS = "tickit-lake-111122223333", "tickit-artifacts-111122223333"
SINK = {"connect.sink": {"file": "plugins/sink.zip"}}
SHAPES: dict[str, dict[str, Any]] = {
    "application": {},
    "sink": SINK,
    "streamer": SINK | {"emr.engine": "streamer"},
    "serverless": {"emr.kind": "serverless", "emr.python": "python.tar.gz"},
}


def statements(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every statement that allows something, with the name of its resource."""
    for template in plan.templates.values():
        for name, resource in template["Resources"].items():
            for statement in _found(resource["Properties"]):
                if statement["Effect"] == "Allow":
                    yield name, statement


def _found(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield from value.get("Statement", [])
        for held in value.values():
            yield from _found(held)
    elif isinstance(value, list):
        for held in value:
            yield from _found(held)


def places(plan: Plan, action: str) -> dict[str, set[str]]:
    """By resource, where in S3 it may do `action`."""
    found: dict[str, set[str]] = {}
    for name, statement in statements(plan):
        if action in statement["Action"]:
            found.setdefault(name, set()).update(
                resource.partition(":::")[2] for resource in statement["Resource"]
            )
    return found


def inside(bucket: str, *folders: str) -> set[str]:
    return {f"{bucket}/{folder}/*" for folder in folders}


@pytest.mark.parametrize("shape", SHAPES)
def test_who_may_write_and_delete(promote: Promote, shape: str) -> None:
    promotion = promote(HTTPS | SHAPES[shape], API)
    plan = render(promotion, None)
    silver = inside(LAKE, "silver")
    own = silver if shape == "streamer" else silver | inside(LAKE, *OWN_FOLDERS)
    by_connector = "sink" in shape or shape == "streamer"
    bronze = inside(LAKE, "topics")
    spark = own if by_connector else own | bronze
    assert places(plan, "s3:DeleteObject") == {"SparkRole": spark}
    assert places(plan, "s3:PutObject") == {
        "SparkRole": spark | inside(ARTIFACTS, "logs"),
        "ReadersPolicy": inside(LAKE, "athena"),
        "ApiRole": inside(LAKE, "athena"),
        **({"ConnectRole": bronze} if by_connector else {}),
    }
    read = places(plan, "s3:GetObject")
    assert "ConnectRole" not in read
    assert read["SparkRole"] >= spark | bronze | inside(ARTIFACTS, *PROGRAMS)
    assert not {place for place in read["SparkRole"] if "athena" in place}
    for name, statement in statements(plan):
        changing = [a for a in statement["Action"] if re.match(r"s3:(Put|Delete|Restore)", a)]
        assert set(changing) <= {"s3:PutObject", "s3:DeleteObject"}, name


def test_with_a_retention_the_application_removes_what_the_connector_wrote(
    promote: Promote,
) -> None:
    promotion = promote(SINK, {"lake.retention": "30d"})
    plan = render(promotion, None)
    assert inside(LAKE, "topics", "retired") <= places(plan, "s3:DeleteObject")["SparkRole"]
    assert not list(RULES["written_folders"](Subject(promotion, plan)))
    assert "--retention-seconds=2592000" in application_arguments(promotion)
    assert not [
        argument
        for argument in application_arguments(promote())
        if isinstance(argument, str) and "retention" in argument
    ]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_star_is_explained(promote: Promote, shape: str) -> None:
    """All that any statement of the whole plan allows on everything."""
    plan = render(promote(HTTPS | SHAPES[shape], API), None)
    assert [
        (name, statement["Action"])
        for name, statement in statements(plan)
        if "*" in statement.get("Resource", [])
    ] == [("ApiStartRole", ["ecr:GetAuthorizationToken"])]
    for name, statement in statements(plan):
        assert not [action for action in statement["Action"] if "*" in action], name


def test_a_sink_that_tags_its_files_may(promote: Promote, project: Path) -> None:
    file = project / "connectors" / "sink_connector_kafka_s3_avro_tickit.json"
    text = file.read_text().replace(
        '"topics.dir": "topics"', '"topics.dir": "lake/bronze", "s3.object.tagging": "true"'
    )
    file.write_text(text)
    plan = render(promote(SINK), None)
    assert places(plan, "s3:PutObjectTagging") == {"ConnectRole": inside(LAKE, "lake/bronze")}
    # Hadoop asks whether a folder above is a file.
    assert {f"{LAKE}/lake", f"{LAKE}/lake/bronze"} <= places(plan, "s3:GetObject")["SparkRole"]


def test_the_application_may_write_where_it_writes() -> None:
    """Each folder that its code names beside those that its options name."""
    named = {"checkpoints"}
    packages = (Path(package.__path__[0]) for package in (lakehouse, lakecontract))
    for path in chain.from_iterable(package.rglob("*.py") for package in packages):
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r"lake\}/([\w-]+)", text))
        named |= set(re.findall(r"base_path\.rstrip\('/'\)\}/([\w-]+)", text))
        names = r'^(?:POSITIONS|BEGINNINGS) = "([\w-]+)"'
        named |= set(re.findall(names, text, re.MULTILINE))
    assert named == set(OWN_FOLDERS)


@pytest.mark.parametrize("shape", SHAPES)
def test_what_runs_lies_where_it_may_be_read(promote: Promote, shape: str) -> None:
    promotion = promote(SHAPES[shape])
    assert {key.partition("/")[0] for key in run_keys(promotion)} <= set(PROGRAMS)


def run_keys(promotion: Promotion) -> set[str]:
    """Keys of all uploads but the plugins, which MSK Connect reads with the rights of who asks."""
    plugins = {plugin_of(promotion, connector).key for connector in promotion.connectors}
    return {upload.key for upload in render(promotion, None).uploads} - plugins
