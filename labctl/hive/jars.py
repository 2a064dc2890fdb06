"""Class paths: the jars of Hive's metastore, and those that it takes from PySpark."""

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
"""The lab's own classes, in the same folder as their source."""
LOG4J2 = LAB_JAR.with_name("log4j2.properties")
"""The metastore's logging configuration."""
_OF_PYSPARK = (
    *("hadoop-client-api", "hadoop-client-runtime"),
    *("commons-cli", "commons-codec", "commons-collections", "commons-logging"),
)
"""Jars that the metastore's archive lacks."""
_SCHEMA = "hive-schema-3.1.0.postgres.sql"
"""The newest schema; metastore 3.1.3 checks that the database has this one."""


def spark_home() -> Path:
    """Return the folder of the installed PySpark."""
    spec = find_spec("pyspark")
    assert spec is not None  # noqa: S101 - labctl depends on it
    assert spec.origin is not None  # noqa: S101
    return Path(spec.origin).parent


def metastore_classpath(artifacts: ArtifactStore) -> list[str]:
    """Return the class path of `labctl.Metastore`."""
    fetched = artifacts.path("hive-metastore")
    (archive,) = fetched.glob("apache-hive-metastore-*-bin")
    pyspark = [jar for name in _OF_PYSPARK for jar in spark_home().glob(f"jars/{name}-[0-9]*.jar")]
    return [str(LAB_JAR), f"{archive}/lib/*", *map(str, [*sorted(fetched.glob("*.jar")), *pyspark])]


def schema_file(artifacts: ArtifactStore) -> Path:
    """Return the SQL file that creates the metastore's tables in PostgreSQL."""
    (found,) = artifacts.path("hive-metastore").rglob(_SCHEMA)
    return found


def build_classpath(artifacts: ArtifactStore) -> str:
    """Return the class path for compiling the sources of `LAB_JAR`."""
    (server,) = spark_home().glob("jars/spark-hive-thriftserver_*.jar")
    return ":".join([*metastore_classpath(artifacts)[1:], str(server)])
