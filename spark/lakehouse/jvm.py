"""What the JVM does with every batch, and need not."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

__all__ = ["forget_yarn", "remember_classes"]

_YARN = "yarn."
_NAMES = ("PythonSQLUtils", "PythonUtils", "SparkSession", "functions", "org")


def remember_classes(spark: SparkSession) -> None:
    """Look up once what PySpark itself uses with every batch.

    py4j looks a name up each time it is used, in all packages that PySpark imports, one after the
    other: by profile a tenth of a commit, spent in the directories of a hundred jars.
    """
    jvm = spark.sparkContext._jvm
    for name in _NAMES:
        setattr(jvm, name, getattr(jvm, name))


def forget_yarn(spark: SparkSession) -> None:
    """Drop YARN's settings, six of ten, from the Hadoop configuration that tasks get.

    It goes with Hudi's closures and tasks some ten times a commit, each entry compressed on its
    own: by profile a tenth of a commit. Nothing in a task asks YARN.
    """
    jvm: Any = spark.sparkContext._jvm
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    names = configuration.getPropsWithPrefix(_YARN).keySet()
    for name in jvm.java.lang.String.join("\n", names).splitlines():
        configuration.unset(_YARN + name)
