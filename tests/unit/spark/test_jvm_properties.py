"""Properties of the JVM that its libraries look at, by the names that the locked ones have."""

from __future__ import annotations

from zipfile import ZipFile

import pytest

from labctl.artifacts import ArtifactStore
from labctl.errors import LabError
from lakecontract.options import JVM_PROPERTIES


def test_hudis_jol_looks_at_the_properties_that_are_set() -> None:
    try:
        jars = ArtifactStore().path("spark-packages").glob("hudi-spark*-bundle*.jar")
        (bundle,) = jars
    except (LabError, ValueError):
        pytest.skip("Hudi is not in the cache")
    with ZipFile(bundle) as archive:
        names = [name for name in archive.namelist() if "/jol/" in name and ".class" in name]
        content = b"".join(map(archive.read, names))
    assert [name for name in JVM_PROPERTIES if name.encode() not in content] == []
