"""The lake API in a plan: its image, its settings, and what its roles may do."""

from __future__ import annotations

import ast
import os
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import boto3
import pytest

import lakeapi
from labctl.config.lab_config import find_project
from labctl.errors import LabError
from labctl.promote import Promotion
from labctl.promote.api_image import image, image_tag, requirements
from labctl.promote.plan import Plan, render
from lakeapi.settings import Settings, of_environment
from lakeapi.tables import Tables
from tests.unit.promote.bad_api_examples import API, HTTPS
from tests.unit.promote.conftest import Promote

ROOT = find_project(Path(__file__))
PACKAGE = Path(lakeapi.__path__[0])


@pytest.fixture
def promotion(promote: Promote) -> Promotion:
    return promote({}, API)


@pytest.fixture
def plan(promotion: Promotion) -> Plan:
    return render(promotion, None)


def properties(plan: Plan, stack: Any, name: str) -> dict[str, Any]:
    found: dict[str, Any] = plan.templates[stack]["Resources"][name]["Properties"]
    return found


def container(plan: Plan) -> dict[str, Any]:
    (one,) = properties(plan, "api", "Task")["ContainerDefinitions"]
    found: dict[str, Any] = one
    return found


def test_a_lab_without_it_has_nothing_of_it(promote: Promote) -> None:
    plan = render(promote(), None)
    assert "api" not in plan.templates
    assert not [path for path in plan.files if path.startswith("api/")]
    assert "lake API" not in plan.texts["README.md"].decode()
    resources = plan.templates["foundation"]["Resources"]
    assert not {name for name in resources if "Api" in name or "Cache" in name}


@pytest.mark.parametrize("cached", [True, False])
def test_the_service_reads_its_settings(
    promote: Promote, monkeypatch: pytest.MonkeyPatch, cached: bool
) -> None:
    """By its own code, from what a task is told."""
    lab = {"api.enabled": True, "cache.enabled": cached, "api.workers": 3}
    profile = {
        "api.stale_seconds": 20, "api.hosts": ["lake.example.com"],
        "api.origins": ["https://app.example.com"],
    }  # fmt: skip
    told = container(render(promote(profile, lab), None))
    for name in os.environ:
        monkeypatch.delenv(name)
    for one in told["Environment"]:
        value = one["Value"]
        if isinstance(value, dict):
            text = value.get("Fn::Sub", "cache.invalid")
            value = text.replace("${Balancer.DNSName}", "lb.invalid")
        monkeypatch.setenv(one["Name"], value)
    for one in told.get("Secrets", []):
        monkeypatch.setenv(one["Name"], "hunter2")
    settings = of_environment()
    assert settings.output == "s3://tickit-lake-111122223333/athena/"
    assert (settings.workgroup, settings.database) == ("tickit-athena", "tickit_demo")
    assert settings.tables == Tables()
    assert settings.time_to_live == 300
    assert (settings.host, settings.port, settings.workers) == ("0.0.0.0", 8088, 3)  # noqa: S104
    assert os.environ["AWS_REGION"] == "us-east-1"
    assert settings.allowed_hosts == ("lb.invalid", "lake.example.com")
    assert settings.cors_origins == ("https://app.example.com",)
    if cached:
        assert settings.cache_mode == "ttl"
        assert (settings.redis_host, settings.redis_port) == ("cache.invalid", 6379)
        assert settings.redis_ssl
        assert settings.cache_stale_seconds == 20
        assert settings.redis_login == "hunter2"
    else:
        assert settings.cache_mode == "off"
        assert not [name for name in os.environ if name.startswith("REDIS")]


def test_no_page_reads_it_unless_the_profile_names_its_origin(plan: Plan) -> None:
    told = {one["Name"]: one["Value"] for one in container(plan)["Environment"]}
    assert told["ALLOWED_HOSTS"] == {"Fn::Sub": '["${Balancer.DNSName}"]'}
    assert "CORS_ORIGINS" not in told


def test_no_password_is_written(plan: Plan) -> None:
    (secret,) = container(plan)["Secrets"]
    assert secret["ValueFrom"] == {"Ref": "CacheSecret"}
    made = properties(plan, "foundation", "CacheSecret")
    assert made["GenerateSecretString"] == {"PasswordLength": 64, "ExcludePunctuation": True}
    assert "SecretString" not in made


def test_the_port_is_one(plan: Plan) -> None:
    """Of task, balancer, image and service."""
    (mapped,) = container(plan)["PortMappings"]
    (behind,) = properties(plan, "api", "Service")["LoadBalancers"]
    target = properties(plan, "api", "Targets")
    assert {mapped["ContainerPort"], behind["ContainerPort"], target["Port"]} == {8088}
    assert "\nEXPOSE 8088\n" in plan.texts["api/Dockerfile"].decode()
    assert target["HealthCheckPath"].startswith("/v1/health")


def test_the_image_has_all_that_the_service_imports() -> None:
    """And nothing that only the lab needs. What those need in turn is in the lock's comments."""
    known, imported = packages_distributions(), set()
    for path in PACKAGE.glob("*.py"):
        if path.name != "locustfile.py":
            imported |= {name.partition(".")[0] for name in imports_of(path)}
    wanted = {known[name][0].lower().replace("_", "-") for name in imported if name in known}
    text = requirements((ROOT / "requirements.lock").read_text(encoding="utf-8"))
    names = {line.partition("==")[0] for line in text.splitlines() if "==" in line}
    assert len(wanted) > 10
    assert wanted - {"labctl"} <= names
    assert {"botocore", "urllib3", "click", "typing-extensions"} <= names
    assert not names & {"duckdb", "pandas", "pyarrow", "pyspark", "pytest", "typer"}
    assert text.count("--hash=") >= len(names)


def imports_of(path: Path) -> list[str]:
    """Modules that are imported where it runs, and not for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = [ast.Pass()]
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            found.append(node.module or "")
    return found


def test_an_image_is_named_by_its_content(
    promote: Promote, promotion: Promotion, project: Path
) -> None:
    before = image_tag(promotion)
    assert image(promotion).endswith(f".dkr.ecr.us-east-1.amazonaws.com/tickit-api:{before}")
    assert image_tag(promote({"api.cpu": 1024, "api.memory_mib": 2048}, API)) == before
    lock = project / "requirements.lock"
    lock.write_text(lock.read_text().replace("\nfastapi==", "\nfastapi==9."))
    assert image_tag(promotion) != before


def test_the_build_has_what_the_recipe_copies(plan: Plan) -> None:
    recipe = plan.texts["api/Dockerfile"].decode()
    copied = [line.split()[1] for line in recipe.splitlines() if line.startswith("COPY ")]
    for name in copied:
        if not name.startswith("--"):
            assert any(path.startswith(f"api/{name}") for path in plan.texts), name
    modules = {path.name for path in PACKAGE.glob("*.py")} - {"locustfile.py"}
    assert modules == {p.split("/")[2] for p in plan.texts if p.startswith("api/lakeapi/")}


def allowed(plan: Plan, role: str) -> dict[str, set[str]]:
    """Actions of a role, each with its resources as text."""
    found: dict[str, set[str]] = {}
    for policy in properties(plan, "foundation", role)["Policies"]:
        for statement in policy["PolicyDocument"]["Statement"]:
            for action in statement["Action"]:
                found.setdefault(action, set()).update(map(str, statement["Resource"]))
    return found


def test_the_role_may_do_what_the_service_asks_of_athena(plan: Plan) -> None:
    """Each operation that its code names."""
    operations = boto3.client("athena", region_name="us-east-1").meta.method_to_api_mapping
    named = set()
    for path in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in operations:
                named.add(node.attr)
            elif isinstance(node, ast.Constant) and node.value in operations:
                named.add(node.value)
    assert len(named) >= 8
    actions = allowed(plan, "ApiRole")
    assert {f"athena:{operations[name]}" for name in named} <= set(actions)
    assert "*" not in {resource for found in actions.values() for resource in found}


def test_the_role_reads_its_views_and_what_they_read(plan: Plan) -> None:
    actions = allowed(plan, "ApiRole")
    tables = {one.partition(":table/")[2] for one in actions["glue:GetTable"]}
    assert {f"tickit_demo/{name}" for name in Tables().model_dump().values()} <= tables
    assert "tickit_gold/sales_by_day_and_category" in tables
    assert {f"tickit/{name}" for name in Tables.model_fields} <= tables
    folders = {one for one in actions["s3:GetObject"] if "/silver/" in one}
    assert len(folders) == len(Tables.model_fields)
    assert "arn:aws:s3:::tickit-lake-111122223333/silver/*" not in folders
    # gold/ has its views: it need not make them
    assert "glue:CreateTable" not in actions


def test_it_may_make_its_own_view_where_gold_has_none(promote: Promote, project: Path) -> None:
    view = "tickit_sales_by_day_and_category"
    (project / "gold" / "tickit_demo" / f"{view}.sql").unlink()
    actions = allowed(render(promote({}, API), None), "ApiRole")
    made = {one.partition(":table/")[2] for one in actions["glue:CreateTable"]}
    assert made - {""} == {f"tickit_demo/{view}"}


@pytest.mark.parametrize(
    ("changes", "answers", "opened"),
    [({"api.plain_http": True}, "Listener", {80}), (HTTPS, "HttpsListener", {80, 443})],
)
def test_clients_reach_it_by_tls_or_by_what_the_profile_allows(
    promote: Promote, changes: dict[str, Any], answers: str, opened: set[int]
) -> None:
    plan = render(promote(changes, API), None)
    resources = plan.templates["api"]["Resources"]
    listeners = {
        name: (one["Properties"]["Port"], one["Properties"]["DefaultActions"][0]["Type"])
        for name, one in resources.items()
        if one["Type"] == "AWS::ElasticLoadBalancingV2::Listener"
    }
    assert {port for port, _ in listeners.values()} == opened
    assert [name for name, (_, action) in listeners.items() if action == "forward"] == [answers]
    assert resources["Service"]["DependsOn"] == [answers]
    ports = {
        one["Properties"]["ToPort"]
        for name, one in plan.templates["foundation"]["Resources"].items()
        if name.startswith("Client1ToBalancer")
    }
    assert ports == opened


def test_the_plan_says_how_to_build_and_push(plan: Plan, promotion: Promotion) -> None:
    text = plan.texts["README.md"].decode()
    assert f"docker build --platform linux/amd64 --tag {image(promotion)} api\n" in text
    assert f"docker push {image(promotion)}\n" in text
    assert "--until foundation" in text
    assert container(plan)["Image"] == image(promotion)


def test_without_the_packages_it_says_what_to_install(
    promote: Promote, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("labctl.extras.find_spec", lambda name: None if name == "orjson" else name)
    with pytest.raises(LabError) as caught:
        render(promote({}, API), None)
    assert caught.value.hint == "pip install 'labctl[lakeapi]'"


def test_every_setting_has_its_name_in_the_documentation() -> None:
    from lakeapi.settings import environment_name

    text = (ROOT / "docs" / "lake-api.md").read_text(encoding="utf-8")
    for setting in Settings.model_fields:
        assert f"`{environment_name(setting)}`" in text
