"""Class paths: the jars of Hive's metastore, and what it takes of those that PySpark brings."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from labctl.artifacts import ArtifactStore

__all__ = [
    "LAB_JAR",
    "LOG4J2",
    "build_classpath",
    "metastore_classpath",
    "schema_file",
    "spark_home",
]

LAB_JAR = Path(__file__).parent / "java" / "lab-hive.jar"
"""Classes of the lab's own, beside their source."""
LOG4J2 = LAB_JAR.with_name("log4j2.properties")
"""What the metastore logs."""
_OF_PYSPARK = (
    *("hadoop-client-api", "hadoop-client-runtime"),
    *("commons-cli", "commons-codec", "commons-collections", "commons-logging"),
)
"""Jars that the metastore's archive lacks."""
_SCHEMA = "hive-schema-3.1.0.postgres.sql"
"""The newest there is; 3.1.3 checks that the database has this one."""


def spark_home() -> Path:
    """The folder of the installed PySpark."""
    spec = find_spec("pyspark")
    assert spec is not None  # noqa: S101 - labctl depends on it
    assert spec.origin is not None  # noqa: S101
    return Path(spec.origin).parent


def metastore_classpath(artifacts: ArtifactStore) -> list[str]:
    """What `labctl.Metastore` runs on."""
    fetched = artifacts.path("hive-metastore")
    (archive,) = fetched.glob("apache-hive-metastore-*-bin")
    pyspark = [jar for name in _OF_PYSPARK for jar in spark_home().glob(f"jars/{name}-[0-9]*.jar")]
    return [str(LAB_JAR), f"{archive}/lib/*", *map(str, [*sorted(fetched.glob("*.jar")), *pyspark])]


def schema_file(artifacts: ArtifactStore) -> Path:
    """The SQL that makes the metastore's tables in PostgreSQL."""
    (found,) = artifacts.path("hive-metastore").rglob(_SCHEMA)
    return found


def build_classpath(artifacts: ArtifactStore) -> str:
    """What the sources of `LAB_JAR` are compiled against."""
    (server,) = spark_home().glob("jars/spark-hive-thriftserver_*.jar")
    return ":".join([*metastore_classpath(artifacts)[1:], str(server)])
