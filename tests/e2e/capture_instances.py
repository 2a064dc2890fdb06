"""SQL Server's capture instances: it captures the columns there were when one was made."""

from __future__ import annotations

from labctl.sources import Source, TableRef

__all__ = ["recapture"]


def recapture(database: Source, ref: TableRef) -> None:
    """Begin a second capture instance of a table, of an engine that has any."""
    if database.engine != "sqlserver":
        return
    place = f"N'{ref.schema}', N'{ref.name}'"
    instances = database.execute(
        "SELECT capture_instance FROM cdc.change_tables WHERE source_object_id = OBJECT_ID(%s) "
        "ORDER BY create_date",
        (str(ref),),
    )
    if len(instances) > 1:
        # Both are there from the last change, which the connector has long passed.
        database.execute(f"EXEC sys.sp_cdc_disable_table {place}, N'{instances[0][0]}'")
    number = 1 + max(
        int("0" + name.rpartition("_v")[2]) if "_v" in name else 1 for (name,) in instances
    )
    database.execute(
        f"EXEC sys.sp_cdc_enable_table {place}, "
        f"@capture_instance = N'{ref.name}_v{number}', @role_name = NULL"
    )
