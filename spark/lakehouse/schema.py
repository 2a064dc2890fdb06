"""Column types of a table over time: what may change at the source without anyone's help."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql.types import (
    BooleanType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

from lakehouse.errors import SchemaChangeError

__all__ = ["POSITION_COLUMNS", "merge_schemas", "widened_columns"]

POSITION_COLUMNS = StructType(
    [
        StructField("__kafka_partition", IntegerType()),
        StructField("__kafka_offset", LongType()),
        StructField("__kafka_timestamp", LongType()),
    ]
)
"""Where a row's last change stood in its topic; the timestamp in milliseconds since the epoch."""

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
    text_for_conflicts: bool = False,
) -> StructType:
    """The table's columns once rows of every `incoming` schema are in it.

    Columns keep their place, new ones follow, and the position columns are always there; every
    column is nullable. A column that is not incoming stays. Where a type cannot hold the other's
    values exactly SchemaChangeError is raised, or with `text_for_conflicts` both become text.
    """
    columns: dict[str, DataType] = {}
    for schema in (current or StructType(), *incoming, POSITION_COLUMNS):
        for field in schema.fields:
            known = columns.get(field.name)
            kind = field.dataType if known is None else _wider(known, field.dataType)
            if kind is None and text_for_conflicts:
                kind = StringType()
            if known is not None and kind is None:
                raise _conflict(table, field.name, known, field.dataType)
            columns[field.name] = kind or field.dataType
    return StructType([StructField(name, kind, nullable=True) for name, kind in columns.items()])


def widened_columns(before: StructType, after: StructType) -> list[str]:
    """Columns of `before` whose type is another one in `after`."""
    return [field.name for field in before.fields if after[field.name].dataType != field.dataType]


def _wider(known: DataType, incoming: DataType) -> DataType | None:
    """The type that holds both exactly; None when there is none."""
    if known == incoming:
        return known
    for narrow, wide in _WIDENINGS:
        if isinstance(known, (narrow, wide)) and isinstance(incoming, (narrow, wide)):
            return wide()
    if (
        isinstance(known, DecimalType)
        and isinstance(incoming, DecimalType)
        and known.scale == incoming.scale
    ):
        return DecimalType(max(known.precision, incoming.precision), known.scale)
    if isinstance(known, StringType) and isinstance(incoming, _EXACT_AS_TEXT):
        return known
    return None


def _conflict(table: str, column: str, known: DataType, incoming: DataType) -> SchemaChangeError:
    return SchemaChangeError(
        f"Column {table}.{column} is {known.simpleString()}, but now arrives as "
        f"{incoming.simpleString()}, and no type holds both exactly",
        hint="Change the column back at the source, or rebuild the table from bronze, which makes "
        f"the column text: labctl rebuild {table}",
    )
