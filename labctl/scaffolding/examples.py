"""The example table of a new source."""

from __future__ import annotations

from labctl.engine_names import EngineName
from labctl.scaffolding.new_source import NewSource, NewTable
from labctl.sources import ENGINES, TableRef

__all__ = ["EXAMPLE_TABLE", "example_source"]

EXAMPLE_TABLE = "customer"
_HEADER = """\
-- The tables of the source `{source}`. `labctl up` runs this file when it has changed, so write it
-- for a database that has some of it already. A further table:
--   labctl table add {source}.{schema}.TABLE
"""


def example_source(name: str, engine: EngineName) -> NewSource:
    """Return a source with one small table and two rows."""
    database = name.replace("-", "_")
    record = ENGINES[engine]
    schema = record.default_schema or database
    return NewSource(
        name,
        engine,
        None if record.schemas_are_databases else database,
        (schema,),
        (NewTable(TableRef(schema, EXAMPLE_TABLE), ("customer_id",)),),
        (_HEADER + record.sql_files.example).format(source=name, schema=schema),
    )
