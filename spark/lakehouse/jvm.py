"""Changes to the JVM's defaults, in every session that writes tables."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

__all__ = ["allow_null_elements", "estimate_sizes_inside", "forget_yarn", "remember_classes"]

_YARN = "yarn."
_OLDER_LISTS = "parquet.avro.write-old-list-structure"
_JOL_SKIPS = ("jol.skipInstallAttach", "jol.skipDynamicAttach", "jol.skipHotspotSAAttach")
_NAMES = ("PythonSQLUtils", "PythonUtils", "SparkSession", "functions", "org")


def remember_classes(spark: SparkSession) -> None:
    """Look up once the classes that PySpark uses with every batch.

    py4j looks up a name at each use, in all packages that PySpark imports, one after the other. A
    profile shows that this takes a tenth of a commit, in the directories of a hundred jars.
    """
    jvm = spark.sparkContext._jvm
    for name in _NAMES:
        setattr(jvm, name, getattr(jvm, name))


def forget_yarn(spark: SparkSession) -> None:
    """Drop YARN's settings, six of ten, from the Hadoop configuration that tasks get.

    Hudi's closures and tasks carry it some ten times per commit, with each entry compressed on its
    own: a tenth of a commit, by profile. No task uses YARN.
    """
    jvm: Any = spark.sparkContext._jvm
    configuration = spark.sparkContext._jsc.hadoopConfiguration()
    names = configuration.getPropsWithPrefix(_YARN).keySet()
    for name in jvm.java.lang.String.join("\n", names).splitlines():
        configuration.unset(_YARN + name)


def estimate_sizes_inside(spark: SparkSession) -> None:
    """Keep the JVM from starting others that look into it while a table is written.

    Hudi asks JOL how large its records are. To answer to the byte, JOL starts a JVM that attaches
    to this one, then one with HotSpot's serviceability agent, which stops this one while it looks:
    several at once, for seconds each, in the first commit of each table with log files. Where the
    JVM lacks these modules, they fail. JOL's own estimate is good enough for a limit of memory.
    """
    system: Any = spark.sparkContext._jvm.java.lang.System  # type: ignore[union-attr]
    for name in _JOL_SKIPS:
        system.setProperty(name, "true")


def allow_null_elements(spark: SparkSession) -> None:
    """Make Parquet files hold arrays as lists of three levels.

    Parquet's writer of Avro records, which writes Hudi's base files, has as its default an older
    structure of two levels, in which a NULL element cannot be written. One table can have files of
    both structures. The setting is no key of `spark-defaults.conf`, because a project's own copy of
    that file may be older.
    """
    spark.sparkContext._jsc.hadoopConfiguration().set(_OLDER_LISTS, "false")
