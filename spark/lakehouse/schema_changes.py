"""Column types of a table over time: changes at the source that need nobody's help."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from lakecontract.errors import SchemaChangeError
from lakecontract.wide_decimals import MOST_DIGITS

__all__ = ["POSITION_COLUMNS", "has_elements", "merge_schemas", "widened_columns"]

POSITION_COLUMNS = StructType(
    [
        StructField("__kafka_partition", IntegerType()),
        StructField("__kafka_offset", LongType()),
        StructField("__kafka_timestamp", LongType()),
    ]
)
"""Place of a row's last change in its topic; the timestamp is in milliseconds since the epoch."""

_EXACT_AS_TEXT = (IntegerType, LongType, DecimalType, BooleanType, DateType)
"""Types whose values, written as text, lose nothing."""

_WIDENINGS: tuple[tuple[type[DataType], type[DataType]], ...] = (
    (IntegerType, LongType),
    (FloatType, DoubleType),
)


def merge_schemas(
    table: str,
    current: StructType | None,
    incoming: Iterable[StructType],
    *,
    written_again: bool = False,
) -> StructType:
    """Return the table's columns once rows of every `incoming` schema are in it.

    Columns keep their place, new ones follow, and the position columns are always there; every
    column is nullable. A column that is not incoming stays. SchemaChangeError is raised if the
    existing files could not be read with a type that holds both exactly. With `written_again` there
    are no such files: a column gets that type, or is text if there is none.
    """
    columns: dict[str, DataType] = {}
    for schema in (current or StructType(), *incoming, POSITION_COLUMNS):
        for field in schema.fields:
            known = columns.get(field.name)
            kind = field.dataType if known is None else _wider(known, field.dataType)
            if known is not None and kind is None and written_again:
                kind = _common_decimal(known, field.dataType) or StringType()
            if known is not None and kind is None:
                raise _conflict(table, field.name, known, field.dataType)
            columns[field.name] = kind or field.dataType
    return StructType([StructField(name, kind, nullable=True) for name, kind in columns.items()])


def widened_columns(before: StructType, after: StructType) -> list[str]:
    """Return the columns of `before` that have another type in `after`."""
    return [field.name for field in before.fields if after[field.name].dataType != field.dataType]


def has_elements(column: StructField) -> bool:
    """Return whether there are arrays or maps in a column's values."""
    kind = column.dataType
    if isinstance(kind, StructType):
        return any(map(has_elements, kind.fields))
    return isinstance(kind, (ArrayType, MapType))


def _wider(known: DataType, incoming: DataType) -> DataType | None:
    """Return a type that holds both exactly and can read files of the known one; else None."""
    if known == incoming:
        return known
    for narrow, wide in _WIDENINGS:
        if isinstance(known, (narrow, wide)) and isinstance(incoming, (narrow, wide)):
            return wide()
    common = _common_decimal(known, incoming)
    if common is not None and isinstance(known, DecimalType) and common.scale == known.scale:
        return common
    if isinstance(known, StringType) and isinstance(incoming, _EXACT_AS_TEXT):
        return known
    return None


def _common_decimal(one: DataType, other: DataType) -> DecimalType | None:
    """Return the decimal type that holds both exactly; None if there is none or no decimals."""
    if not (isinstance(one, DecimalType) and isinstance(other, DecimalType)):
        return None
    scale = max(one.scale, other.scale)
    precision = scale + max(one.precision - one.scale, other.precision - other.scale)
    return DecimalType(precision, scale) if precision <= MOST_DIGITS else None


def _conflict(table: str, column: str, known: DataType, incoming: DataType) -> SchemaChangeError:
    common = _common_decimal(known, incoming)
    if common is None:
        why, becomes = "no type holds both exactly", "text"
    else:
        becomes = common.simpleString()
        why = f"its files cannot be read as {becomes}, which holds both"
    return SchemaChangeError(
        f"Column {table}.{column} is {known.simpleString()}, but now arrives as "
        f"{incoming.simpleString()}: {why}",
        hint=f"Rebuild the table from bronze, which makes the column {becomes}: "
        f"labctl table rebuild {table}",
    )
