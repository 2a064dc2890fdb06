"""Settings that the Spark application is started with."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from labctl.config.lab_config import LabConfig
from labctl.services import silver_service
from tests.unit.service_context import NamedParts, context_of


@pytest.fixture
def config() -> LabConfig:
    return LabConfig.load(Path(__file__).parents[2] / "lab.toml")


def test_a_lab_may_read_from_elsewhere_for_a_while(config: LabConfig) -> None:
    other = config.with_source("bronze")
    assert other.silver.source == "bronze"
    assert other.lake == config.lake
    assert config.silver.source == "kafka"


def test_without_another_source_lab_toml_holds(config: LabConfig) -> None:
    assert config.with_source("") is config


def test_a_source_that_does_not_exist_is_refused(config: LabConfig) -> None:
    with pytest.raises(ValidationError):
        config.with_source("tape")


def test_the_application_is_started_with_the_lakes_retention(
    config: LabConfig, tmp_path: Path
) -> None:
    def seconds(of: LabConfig) -> int | None:
        context = context_of(silver_service.SERVICE, of, tmp_path, NamedParts())
        return silver_service.options(context).retention_seconds

    assert seconds(config) is None
    lake = config.lake.model_copy(update={"retention": "12h"})
    assert seconds(config.model_copy(update={"lake": lake})) == 43_200
