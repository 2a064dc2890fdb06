"""One query in a Spark session of its own: run as a process by `labctl.lake.spark`.

Takes a JSON request on stdin, writes the answer as Parquet and a JSON report into a folder.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from labctl.lake.view import View

__all__ = ["answer", "main", "shown", "write_answer"]


def main() -> None:
    """Reads the request and answers it in a session of its own."""
    request = json.load(sys.stdin)
    builder = SparkSession.builder
    for key, value in request["conf"].items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    try:
        answer(spark, request)
    finally:
        spark.stop()


def answer(spark: SparkSession, request: dict[str, Any]) -> None:
    """Leaves the answer, or what is wrong with the SQL, in the request's folder."""
    folder = Path(request["folder"])
    view = View(**request["view"])
    try:
        for table in request["tables"]:
            shown(spark, table, view).createOrReplaceTempView(f"`{table['name']}`")
        write_answer(spark.sql(request["sql"]), folder)
    except (AnalysisException, ParseException) as error:
        _report(folder, {"error": error.getErrorClass() or "SQL", "message": str(error)})


def shown(spark: SparkSession, table: dict[str, Any], view: View) -> DataFrame:
    """The rows of a table (`name`, `uri`, read `options`) that `view` shows."""
    rows = spark.read.format("hudi").options(**table["options"]).load(table["uri"])
    for condition in view.filters(rows.columns):
        rows = rows.where(condition)
    return rows


def write_answer(result: DataFrame, folder: Path) -> None:
    """Writes rows and column names apart: Parquet allows no column twice, a query does."""
    numbered = result.toDF(*(f"c{index}" for index in range(len(result.columns))))
    numbered.coalesce(1).write.parquet((folder / "answer").as_uri())
    _report(folder, {"columns": result.columns})


def _report(folder: Path, report: dict[str, Any]) -> None:
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
