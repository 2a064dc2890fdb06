"""What the JVM is to do otherwise than by itself, in every session that writes tables."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

__all__ = ["allow_null_elements", "forget_yarn", "remember_classes"]

_YARN = "yarn."
_OLDER_LISTS = "parquet.avro.write-old-list-structure"
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


def allow_null_elements(spark: SparkSession) -> None:
    """Have Parquet files hold arrays in lists of three levels.

    Parquet's writer of Avro records, which writes Hudi's base files, has by itself an older
    structure of two levels, where an element that is NULL cannot be written. Files of both
    structures can be in one table. It is no key of `spark-defaults.conf`: a project's own copy of
    that file may be older.
    """
    spark.sparkContext._jsc.hadoopConfiguration().set(_OLDER_LISTS, "false")
