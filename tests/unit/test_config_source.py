"""Silver's source, other than lab.toml's for a while."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from labctl.config.lab_config import LabConfig


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
