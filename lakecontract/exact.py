"""A session and tables in which Spark answers a query as Athena does: exactly or by an error."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import DoubleType, FloatType, StructType, TimestampType

from lakecontract.deletes import DELETED, LIVE

__all__ = ["exact_session", "floating", "shown"]

_EXACT: Mapping[str, str] = {
    # Otherwise a number that is too large wraps around, or is null.
    "spark.sql.ansi.enabled": "true",
    # Otherwise digits are cut off when a decimal has too many.
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
    "spark.sql.session.timeZone": "UTC",
}


def exact_session(spark: SparkSession) -> SparkSession:
    """Return another session of the same application, with settings and views of its own."""
    session = spark.newSession()
    for key, value in _EXACT.items():
        session.conf.set(key, value)
    return session


def shown(rows: DataFrame, *, deleted: bool = False) -> DataFrame:
    """Return a silver table's rows as Athena sees them; `deleted` includes deleted rows.

    Timestamps are rounded to milliseconds.
    """
    if not deleted and DELETED in rows.columns:
        rows = rows.where(LIVE)
    stamps = [
        field.name for field in rows.schema.fields if isinstance(field.dataType, TimestampType)
    ]
    return rows.withColumns({name: _in_milliseconds(name) for name in stamps}) if stamps else rows


def _in_milliseconds(name: str) -> Column:
    rounded = f"unix_micros(`{name}`) + 500"
    return f.expr(f"timestamp_micros({rounded} - pmod({rounded}, 1000))")


def floating(schema: StructType) -> list[str]:
    """Return the columns of floating point numbers, whose sums depend on the order of rows."""
    return [f.name for f in schema.fields if isinstance(f.dataType, DoubleType | FloatType)]
