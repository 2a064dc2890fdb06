"""The provider's jar is what its source makes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from labctl.artifacts import ArtifactStore
from labctl.errors import LabError
from labctl.services.connect import PROVIDER


def is_jdk_17() -> bool:
    """The compiler of another version writes other bytes."""
    if shutil.which("javac") is None or shutil.which("jar") is None:
        return False
    version = subprocess.run(["javac", "-version"], capture_output=True, text=True, check=True)
    return version.stdout.startswith("javac 17.")


@pytest.mark.skipif(not is_jdk_17(), reason="needs a JDK 17")
def test_the_jar_is_made_of_the_source_beside_it(tmp_path: Path) -> None:
    try:
        jars = ArtifactStore().path("kafka")
    except LabError:
        pytest.skip("Kafka is not in the cache")
    made = tmp_path / "made.jar"
    clients = next(jars.glob("kafka-clients-*.jar"))
    subprocess.run([str(PROVIDER / "build"), str(clients), str(made)], check=True)
    assert made.read_bytes() == (PROVIDER / "secrets-folder.jar").read_bytes()
