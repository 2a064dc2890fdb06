"""Changes to the JVM's defaults, in every session that writes tables."""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from lakecontract.options import JVM_PROPERTIES

__all__ = ["allow_null_elements", "estimate_sizes_inside", "forget_yarn", "remember_classes"]

_YARN = "yarn."
_OLDER_LISTS = "parquet.avro.write-old-list-structure"
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
    """Stop JOL from starting helper JVMs that attach to the driver's.

    Hudi asks JOL how large its records are. To answer to the byte, JOL starts a JVM that attaches
    to the driver's, then one with HotSpot's serviceability agent, which stops the driver's while it
    reads its memory: several at once, for seconds each, in the first commit of each table with log
    files. In a JVM without these modules the attempts fail. JOL's estimate without them is good
    enough for a limit of memory. Executors of a cluster get the properties from its settings.
    """
    system: Any = spark.sparkContext._jvm.java.lang.System  # type: ignore[union-attr]
    for name, value in JVM_PROPERTIES.items():
        system.setProperty(name, value)


def allow_null_elements(spark: SparkSession) -> None:
    """Make Parquet files hold arrays as lists of three levels.

    Parquet's writer of Avro records, which writes Hudi's base files, has as its default an older
    structure of two levels, in which a NULL element cannot be written. One table can have files of
    both structures. The setting is no key of `spark-defaults.conf`, because a project's own copy of
    that file may be older.
    """
    spark.sparkContext._jsc.hadoopConfiguration().set(_OLDER_LISTS, "false")
