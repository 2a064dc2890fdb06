"""What the documentation says is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

from labctl.cli import COMMANDS
from labctl.config.model import (
    ApiSettings,
    CacheSettings,
    ComposeProfile,
    LabConfig,
    LakeSettings,
    MetastoreSettings,
    NativeProfile,
    ServiceSettings,
    Source,
    ThriftServerSettings,
)
from labctl.errors import ExitCode
from labctl.runtimes.compose.network import network_endpoints
from labctl.services import PASSWORDS, SERVICES
from labctl.services.references import reference_values
from labctl.sources.document import render

DOCS = Path(__file__).parents[2] / "docs"


def test_the_types_page_is_what_the_rules_say() -> None:
    assert (DOCS / "types.md").read_text() == render()


def test_every_exit_code_is_documented() -> None:
    text = (DOCS / "cli.md").read_text()
    documented = {int(code) for code in re.findall(r"^\| (\d+) \|", text, re.MULTILINE)}
    assert documented == {int(code) for code in ExitCode}


def test_every_key_of_lab_toml_is_documented() -> None:
    text = (DOCS / "configuration.md").read_text()
    models = (
        *(LabConfig, Source, ServiceSettings, LakeSettings, CacheSettings, ApiSettings),
        *(MetastoreSettings, ThriftServerSettings),
        *(NativeProfile, ComposeProfile),
    )
    for model in models:
        for name, field in model.model_fields.items():
            assert f"`{field.alias or name}`" in text, f"{model.__name__}.{name}"


def test_every_port_is_documented() -> None:
    text = (DOCS / "configuration.md").read_text()
    for service in SERVICES:
        for endpoint, port in service.ports.items():
            assert f"| {service.name} | {endpoint} | {port} |" in text


def test_every_value_that_connectors_may_refer_to_is_documented() -> None:
    text = (DOCS / "configuration.md").read_text()
    config = LabConfig.load(DOCS.parent / "lab.toml")
    passwords = dict.fromkeys(PASSWORDS, "x")
    endpoints = network_endpoints(config, passwords)
    for name, values in reference_values(endpoints, passwords, "kafka").items():
        named = "SOURCE" if name in config.sources else name
        (row,) = re.findall(rf"^\| .*`demo/{named}`.* \| (.*) \|$", text, re.MULTILINE)
        assert set(values) <= set(re.findall("`([^`]+)`", row)), name


def test_every_command_is_documented() -> None:
    text = (DOCS / "cli.md").read_text()
    for name in COMMANDS:
        assert f"| `{name}" in text, name
