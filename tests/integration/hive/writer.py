"""Commits to silver tables, and tells Hive's metastore of them: the application's own classes.

A process of its own, so that its Spark is gone when the Thrift server starts: the first line that
it reads is its settings, every other one a step (JSON), each answered with the metastore's state.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lakehouse.hive_sync import HiveSync
from lakehouse.hudi import HudiTable
from lakehouse.properties import load_tables

POLL_SECONDS = 0.1
"""Between two looks at whether the metastore was told."""


def main() -> None:
    # The JVM has words of its own for standard output.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    settings: dict[str, Any] = json.loads(sys.stdin.readline())
    builder = SparkSession.builder
    for key, value in settings["conf"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    configs = load_tables(map(Path, settings["properties"]))
    tables = {config.name: HudiTable(spark, config, settings["base"]) for config in configs}
    hive = HiveSync(spark, settings["uri"])
    hive.start()
    offset = 0
    for line in sys.stdin:
        step: dict[str, Any] = json.loads(line)
        table = tables[step["table"]]
        rows = step["rows"]
        if rows:
            offset += len(rows)
            table.commit(spark.createDataFrame(rows, step["schema"]), len(rows), {0: offset}, "")
        hive.ask(table)
        while (status := hive.status(step["table"]))["due"] and not status["error"]:
            time.sleep(POLL_SECONDS)
        print(json.dumps(status), file=answers, flush=True)
    hive.stop()
    spark.stop()


if __name__ == "__main__":
    main()
