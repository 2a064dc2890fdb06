"""Commits to silver tables, and registers them in a catalog: the application's own classes.

A process of its own, so that its Spark is gone when the Thrift server starts: the first line that
it reads is its settings, every other one a step (JSON), each answered with how that went.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from lakecontract.properties import load_tables
from lakehouse.catalog_sync import CatalogSync
from lakehouse.hudi import HudiTable

POLL_SECONDS = 0.1
"""Between two looks at whether the table was registered."""


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
    catalogs = {name: CatalogSync(spark, at) for name, at in settings["catalogs"].items()}
    for catalog in catalogs.values():
        catalog.start()
    offset = 0
    for line in sys.stdin:
        step: dict[str, Any] = json.loads(line)
        table, catalog = tables[step["table"]], catalogs[step["table"]]
        rows = step["rows"]
        if rows:
            offset += len(rows)
            table.commit(spark.createDataFrame(rows, step["schema"]), len(rows), {0: offset}, "")
        catalog.ask(table)
        while (status := catalog.status(step["table"]))["due"] and not status["error"]:
            time.sleep(POLL_SECONDS)
        print(json.dumps(status), file=answers, flush=True)
    for catalog in catalogs.values():
        catalog.stop()
    spark.stop()


if __name__ == "__main__":
    main()
