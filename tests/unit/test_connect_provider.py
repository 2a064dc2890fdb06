"""The provider's jar is what its source makes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from labctl.artifacts import ArtifactStore
from labctl.errors import LabError
from labctl.services.connect import PROVIDER
from tests.unit.jdk import needs_jdk_17


@needs_jdk_17
def test_the_jar_is_made_of_the_source_beside_it(tmp_path: Path) -> None:
    try:
        jars = ArtifactStore().path("kafka")
    except LabError:
        pytest.skip("Kafka is not in the cache")
    made = tmp_path / "made.jar"
    clients = next(jars.glob("kafka-clients-*.jar"))
    subprocess.run([str(PROVIDER / "build"), str(clients), str(made)], check=True)
    assert made.read_bytes() == (PROVIDER / "secrets-folder.jar").read_bytes()
