"""The lock file that ships, and what happens to one that is not right."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from labctl.artifacts.lock import GoArtifact, Lock, MavenArtifact, PypiArtifact, load_lock
from labctl.errors import ExitCode, LabError

FOLDER = Path(str(files("labctl.artifacts")))


@pytest.fixture
def content() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((FOLDER / "lock.json").read_text())
    return loaded


def test_has_every_part_that_is_asked_for_in_the_asked_version() -> None:
    parts = tomllib.loads((FOLDER / "parts.toml").read_text())
    artifacts = load_lock().artifacts
    assert list(artifacts) == list(parts)
    for name, part in parts.items():
        assert artifacts[name].kind == part["kind"]
        if "version" in part:
            assert artifacts[name].version == part["version"]


@pytest.mark.parametrize("file", ["lock.json", "parts.toml"])
def test_names_no_registry(file: str) -> None:
    assert "://" not in (FOLDER / file).read_text()


def test_kafka_is_of_one_version_and_has_a_logger() -> None:
    kafka = load_lock().artifacts["kafka"]
    assert isinstance(kafka, MavenArtifact)
    of_kafka = [file for file in kafka.files if file.name.startswith("org.apache.kafka:")]
    assert {file.version for file in of_kafka} == {kafka.version}
    versions = {file.name: file.version for file in kafka.files}
    assert len(versions) == len(kafka.files), "a jar in two versions"
    assert versions["org.slf4j:slf4j-api"].startswith("1.7.")
    log4j = "org.apache.logging.log4j:log4j"
    assert versions[f"{log4j}-slf4j-impl"] == versions[f"{log4j}-core"]


def test_spark_packages_leave_out_what_pyspark_brings() -> None:
    pyspark = pytest.importorskip("pyspark")
    brought = {jar.name for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar")}
    spark = load_lock().artifacts["spark-packages"]
    assert isinstance(spark, MavenArtifact)
    jars = {f"{file.name.split(':')[1]}-{file.version}.jar" for file in spark.files}
    assert not jars & brought
    assert not any("bundle" in jar and "hudi" not in jar for jar in jars)


def test_digest_changes_with_anything_locked(content: dict[str, Any]) -> None:
    before = Lock.model_validate(content).artifacts
    content["artifacts"]["kafka"]["files"][0]["sha256"] = "0" * 64
    after = Lock.model_validate(content).artifacts
    changed = {name for name in before if before[name].digest != after[name].digest}
    assert changed == {"kafka"}


def test_download_sizes_are_plausible() -> None:
    artifacts = load_lock().artifacts
    minio, postgres = artifacts["minio"], artifacts["postgres"]
    assert isinstance(minio, GoArtifact)
    assert isinstance(postgres, PypiArtifact)
    assert minio.download_size == minio.size
    assert postgres.download_size == postgres.file.size
    assert sum(artifact.download_size for artifact in artifacts.values()) < 600_000_000


@pytest.mark.parametrize(
    ("place", "value", "named"),
    [
        (("artifacts", "jre", "file", "sha256"), "beef", "sha256"),
        (("artifacts", "jre", "file", "size"), 0, "size"),
        (("artifacts", "minio", "h1"), "h1:short", "h1"),
        (("artifacts", "kafka", "kind"), "ftp", "kafka"),
        (("artifacts", "kafka", "colour"), "red", "colour"),
        (("format",), 2, "format"),
    ],
)
def test_refuses_a_lock_that_is_not_valid(
    content: dict[str, Any], tmp_path: Path, place: tuple[str, ...], value: object, named: str
) -> None:
    record = content
    for key in place[:-1]:
        record = record[key]
    record[place[-1]] = value
    path = tmp_path / "lock.json"
    path.write_text(json.dumps(content))
    with pytest.raises(LabError, match="not valid") as caught:
        load_lock(path)
    assert caught.value.exit_code == ExitCode.USAGE
    assert any(named in detail for detail in caught.value.details)


def test_refuses_a_lock_that_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "lock.json"
    path.write_text((FOLDER / "lock.json").read_text()[:1000])
    with pytest.raises(LabError, match="not valid"):
        load_lock(path)


def test_says_where_the_lock_should_be(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=str(tmp_path)):
        load_lock(tmp_path / "lock.json")
