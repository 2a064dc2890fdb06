"""Java classes that PySpark asks for by name."""

from __future__ import annotations

from pyspark.sql import SparkSession

__all__ = ["remember_classes"]

_NAMES = ("PythonSQLUtils", "PythonUtils", "SparkSession", "functions", "org")


def remember_classes(spark: SparkSession) -> None:
    """Look up once what PySpark itself uses with every batch.

    py4j looks a name up each time it is used, in all packages that PySpark imports, one after the
    other: by profile a tenth of a commit, spent in the directories of a hundred jars.
    """
    jvm = spark.sparkContext._jvm
    for name in _NAMES:
        setattr(jvm, name, getattr(jvm, name))
