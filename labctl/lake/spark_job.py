"""The process that `labctl.lake.spark_queries` starts for one query, with its own Spark session.

It takes a JSON request on stdin, and writes the answer as Parquet and a JSON report into a folder.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from py4j.java_gateway import is_instance_of
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from labctl.lake.spark_queries import NOT_A_QUERY
from labctl.lake.view import View
from lakecontract.exact import exact_session
from lakecontract.exact import shown as athena_rows
from lakecontract.gold_definition import INPUT

__all__ = ["answer", "main", "shown", "write_answer"]


_LOGICAL = "org.apache.spark.sql.catalyst.plans.logical"
_ACTING = (
    f"{_LOGICAL}.Command",
    f"{_LOGICAL}.ParsedStatement",
    f"{_LOGICAL}.InsertIntoDir",
    f"{_LOGICAL}.ScriptTransformation",
)
"""Nodes that do more than read: statements, and clauses that write files or start a process."""


def main() -> None:
    """Read the request and answer it in a session of its own."""
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
    """Write the answer, or what is wrong with the SQL, into the request's folder."""
    folder = Path(request["folder"])
    view = View(**request["view"])
    try:
        if acting := _acting(spark, request["sql"]):
            _report(folder, {"error": NOT_A_QUERY, "message": acting})
            return
        for table in request["tables"]:
            shown(spark, table, view).createOrReplaceTempView(f"`{table['name']}`")
        _make_views(spark, request, view)
        write_answer(spark.sql(request["sql"]), folder)
    except (AnalysisException, ParseException) as error:
        _report(folder, {"error": error.getErrorClass() or "SQL", "message": str(error)})


def _acting(spark: SparkSession, sql: str) -> str | None:
    """Return the parser's name of the part that does more than read; None in a query.

    Spark executes a statement as soon as it receives one. Raise ParseException for bad SQL.
    """
    jvm: Any = spark
    plan = jvm._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    gateway = spark.sparkContext._gateway
    for node in _nodes(plan):
        if any(is_instance_of(gateway, node, name) for name in _ACTING):
            return str(node.nodeName())
    return None


def _nodes(plan: Any) -> Iterator[Any]:
    """Yield every node of a plan, including those of WITH clauses and of subqueries."""
    yield plan
    for nested in (plan.children(), plan.innerChildren(), plan.subqueries()):
        for index in range(nested.length()):
            yield from _nodes(nested.apply(index))


def shown(spark: SparkSession, table: dict[str, Any], view: View) -> DataFrame:
    """Return the rows of a table (`name`, `uri`, read `options`) that `view` shows."""
    rows = spark.read.format("hudi").options(**table["options"]).load(table["uri"])
    for condition in view.filters(rows.columns):
        rows = rows.where(condition)
    return rows


def _make_views(spark: SparkSession, request: dict[str, Any], view: View) -> None:
    """Write the rows of the catalog's views to files, and create the views from them.

    So the query's session, which has other settings, does not compute these rows.
    """
    session = exact_session(spark)
    tables = {one["name"]: _as_athena_sees_it(session, one, view) for one in request["inputs"]}
    for number, one in enumerate(request["views"]):
        for place, name in enumerate(one["inputs"]):
            tables[name].createOrReplaceTempView(f"{INPUT}{place}")
        labels, kinds = zip(*one["columns"], strict=True)
        found = session.sql(one["sql"]).toDF(*labels)
        typed = [
            found[label].cast(kind).alias(label) for label, kind in zip(labels, kinds, strict=True)
        ]
        folder = (Path(request["folder"]) / f"view{number}").as_uri()
        found.select(typed).write.parquet(folder)
        spark.read.parquet(folder).createOrReplaceTempView(f"`{one['name']}`")


def _as_athena_sees_it(session: SparkSession, table: dict[str, Any], view: View) -> DataFrame:
    rows = session.read.format("hudi").options(**table["options"]).load(table["uri"])
    return athena_rows(rows, deleted=view.deleted)


def write_answer(result: DataFrame, folder: Path) -> None:
    """Write rows and column names separately: Parquet allows no column twice, a query does."""
    numbered = result.toDF(*(f"c{index}" for index in range(len(result.columns))))
    numbered.coalesce(1).write.parquet((folder / "answer").as_uri())
    _report(folder, {"columns": result.columns})


def _report(folder: Path, report: dict[str, Any]) -> None:
    (folder / "report.json").write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
