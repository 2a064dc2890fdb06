"""The jars that the lab adds to Connect are what their sources make."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from labctl.artifacts import ArtifactStore
from labctl.errors import LabError
from labctl.services.connect_service import CONVERTER_MANIFEST, PLUGIN, PLUGIN_JAR
from tests.unit.jdk import needs_jdk_17


@needs_jdk_17
def test_the_jar_is_made_of_the_sources_beside_it(tmp_path: Path) -> None:
    try:
        parts = ("kafka", "debezium-mysql", "debezium-postgres")
        kafka, mysql, postgres = (ArtifactStore().path(part) for part in parts)
    except LabError:
        pytest.skip("Kafka, or Debezium, is not in the cache")
    made = tmp_path / "made.jar"
    mysql, postgres = mysql / "debezium-connector-mysql", postgres / "debezium-connector-postgres"
    command = [PLUGIN / "build", kafka, mysql, postgres, made]
    subprocess.run(command, check=True)
    assert made.read_bytes() == PLUGIN_JAR.read_bytes()


@needs_jdk_17
def test_the_manifest_is_made_by_the_script_beside_it(tmp_path: Path) -> None:
    made = tmp_path / "made.jar"
    subprocess.run([str(CONVERTER_MANIFEST.parent / "build"), str(made)], check=True)
    assert made.read_bytes() == CONVERTER_MANIFEST.read_bytes()
