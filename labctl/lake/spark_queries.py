"""The same queries through Spark SQL, which is slower by seconds and has Hudi's own reader.

Each query runs in a short-lived process with its own JVM, so that nothing of Spark stays behind.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError, TokenError

from labctl.application import shipped_package
from labctl.errors import ExitCode, LabError
from labctl.jvm_flags import FIRST_TIER
from labctl.lake.lake import SparkView, Views
from labctl.lake.silver_table import SilverTable
from labctl.lake.view import View
from lakecontract.options import JAR
from lakecontract.table_names import tables_called
from sqlapi.table_format import History

__all__ = ["NOT_A_QUERY", "SparkEngine", "described", "others", "read_answer"]

_LOG_LINES = 30
# A query over a lab's rows is over before the second compiler has paid for itself.
_JVM_OPTIONS = " ".join(("-Duser.timezone=UTC", "-XX:+UseSerialGC", *FIRST_TIER))
_OWN_JAR = shipped_package() / JAR
NOT_A_QUERY = "NOT_A_QUERY"
"""The error that the job reports for SQL that does more than read; the message names it."""


@dataclass(frozen=True)
class SparkEngine:
    """Spark SQL with the given jars (Hudi's Spark bundle and, for S3, hadoop-aws)."""

    jars: Sequence[Path]
    java: Path | None = None
    """The `java` to run; None for the one that Spark finds."""
    memory: str = "1g"
    timeout_seconds: float = 600

    def query(
        self, sql: str, tables: Sequence[SilverTable], view: View, views: Views | None = None
    ) -> pa.Table:
        """Answer a query; see `labctl.lake.lake.Engine`. Raise LabError (USAGE) for bad SQL."""
        named = others(sql, [table.name for table in tables]) if views else []
        shown = views.for_spark(named, view) if views and named else ()
        with TemporaryDirectory(prefix="labctl-spark-") as name:
            request = self.request(sql, tables, view, Path(name), shown)
            environment = {k: v for t in tables for k, v in t.storage.spark_env.items()}
            log = self._run(request, environment, Path(name))
            return read_answer(Path(name), log, [t.name for t in tables])

    def request(
        self,
        sql: str,
        tables: Sequence[SilverTable],
        view: View,
        folder: Path,
        views: Sequence[SparkView] = (),
    ) -> dict[str, Any]:
        """Return the request to `spark_job`, for tables and views that `sql` may name."""
        names = [table.name for table in tables]
        text, full = _with_views(sql, [*names, *(one.name for one in views)])
        found = [(table, table.name) for table in tables if table.name in full]
        for table in tables:
            short = table.name.rpartition(".")[2]
            if len(tables_called(short, names)) == 1 and re.search(
                rf"\b{re.escape(short)}\b", sql, re.IGNORECASE
            ):
                found.append((table, short))
        read = {name for one in views for name in one.inputs}
        inputs = [table for table in tables if table.name in read]
        return {
            "sql": text,
            "folder": str(folder),
            "conf": self.conf(folder, [*(table for table, _ in found), *inputs]),
            "views": [asdict(one) for one in views],
            "inputs": [described(table, view) for table in inputs],
            "view": asdict(view),
            "tables": [described(table, view) | {"name": name} for table, name in found],
        }

    def conf(self, folder: Path, tables: Sequence[SilverTable] = ()) -> dict[str, str]:
        """Return the settings of a session that keeps its files in `folder`."""
        conf = {
            "spark.master": "local[2]",
            "spark.app.name": "labctl query",
            "spark.ui.enabled": "false",
            "spark.driver.memory": self.memory,
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.authenticate": "true",
            "spark.driver.extraJavaOptions": _JVM_OPTIONS,
            "spark.driver.extraClassPath": ":".join(map(str, (*self.jars, _OWN_JAR))),
            "spark.local.dir": str(folder / "local"),
            "spark.sql.warehouse.dir": (folder / "warehouse").as_uri(),
            "spark.sql.session.timeZone": "UTC",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
            # Dates before 1582 are what the source says, as in spark/spark-defaults.conf.
            "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
            "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
            "spark.sql.avro.datetimeRebaseModeInRead": "CORRECTED",
            "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
            "spark.kryo.registrator": "org.apache.spark.HoodieSparkKryoRegistrar",
            "spark.sql.extensions": "org.apache.spark.sql.hudi.HoodieSparkSessionExtension",
        }
        for table in tables:
            conf |= table.storage.spark_conf
        return conf

    def _run(self, request: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> str:
        env = {**os.environ, **environment, "PYSPARK_PYTHON": sys.executable}
        # started from the lab's own folder, Spark would pick up what lies there
        env["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
        if self.java:
            env["JAVA_HOME"] = str(self.java.resolve().parent.parent)
        try:
            process = subprocess.run(
                [sys.executable, "-m", "labctl.lake.spark_job"],
                input=json.dumps(request),
                env=env,
                cwd=folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=self.timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise LabError(
                f"Spark did not answer within {self.timeout_seconds:.0f} s.",
                hint="Ask for fewer rows, or leave --engine spark out.",
            ) from None
        return process.stdout


def others(sql: str, names: Sequence[str]) -> list[str]:
    """Return the names `database.name` in a query that are not in `names`: perhaps views."""
    try:
        trees = sqlglot.parse(sql, read="spark")
    except SqlglotError:
        return []  # Spark says what is wrong with it.
    found = {
        f"{table.db}.{table.name}".lower()
        for tree in trees
        if tree is not None
        for table in tree.find_all(exp.Table)
        if table.db and not table.catalog
    }
    return sorted(found - set(names))


def _with_views(sql: str, names: Sequence[str]) -> tuple[str, set[str]]:
    """Return the query with each `database.table` as one quoted name, and the names that it has.

    Spark keeps views with a moment or a condition only under plain names.
    """
    try:
        tokens = sqlglot.tokenize(sql, read="spark")
    except TokenError:
        return sql, set()  # Spark says what is wrong with it.
    text, full, end = "", set(), 0
    for one, dot, other in zip(tokens, tokens[1:], tokens[2:], strict=False):
        name = f"{one.text}.{other.text}".lower()
        if dot.text == "." and name in names and one.start >= end:
            text += f"{sql[end : one.start]}`{name}`"
            full.add(name)
            end = other.end + 1
    return text + sql[end:], full


def described(table: SilverTable, view: View) -> dict[str, Any]:
    """Return how Spark should read a table.

    Raise LabError for a moment that Spark cannot read, and for a table that has lost files.
    """
    timeline = table.timeline()
    table.check(timeline, view)
    options = {}
    if view.at:
        options["as.of.instant"] = _accepted_instant(table.name, timeline, view.at)
    if view.read_optimized and timeline.description.kind == "MERGE_ON_READ":
        options["hoodie.datasource.query.type"] = "read_optimized"
    uri = f"{table.storage.spark_uri}/{table.path}"
    return {"name": table.name, "uri": uri, "options": options}


def _accepted_instant(name: str, timeline: History, at: str) -> str:
    """Return an instant that has the state of `at` and that Spark accepts.

    Spark accepts none after an unfinished write. Raise LabError when there is no such instant.
    """
    unfinished = timeline.unfinished_writes()
    if not unfinished or at < min(unfinished):
        return at
    before = [i.requested for i in timeline.writes if i.requested <= at]
    if not before or before[-1] > min(unfinished):
        raise LabError(
            f"Spark cannot read {name} as of {at}: the write {min(unfinished)} is not finished.",
            hint="Leave --engine spark out, or ask for an earlier time.",
        )
    return before[-1]


def read_answer(folder: Path, log: str, tables: Sequence[str]) -> pa.Table:
    """Return the answer that the job left in `folder`. Raise LabError if the job failed."""
    report_file = folder / "report.json"
    if not report_file.exists():
        raise LabError(
            "Spark failed to answer the query.",
            hint="The end of its log is below.",
            details=tuple(log.splitlines()[-_LOG_LINES:]),
        )
    report = json.loads(report_file.read_text(encoding="utf-8"))
    if "error" in report:
        raise _explained(report, tables)
    answer = pq.read_table(folder / "answer")
    fields = zip(report["columns"], answer.schema.types, strict=True)
    schema = pa.schema([pa.field(name, kind) for name, kind in fields])
    return pa.Table.from_arrays(answer.columns, schema=schema)


def _explained(report: Mapping[str, str], tables: Sequence[str]) -> LabError:
    if report["error"] == NOT_A_QUERY:
        return LabError(
            "A query is one SELECT statement.",
            hint=f"Got {report['message']}.",
            exit_code=ExitCode.USAGE,
        )
    message, *rest = report["message"].strip().splitlines()
    hint = None
    if report["error"].startswith("TABLE_OR_VIEW_NOT_FOUND"):
        hint = f"Tables: {', '.join(tables) or 'none yet'}."
    # a parser error draws its position; other errors continue with the query plan
    details = (
        [line for line in rest if line.strip()] if report["error"] == "PARSE_SYNTAX_ERROR" else []
    )
    return LabError(
        f"SQL error: {message}", hint=hint, details=tuple(details), exit_code=ExitCode.USAGE
    )
