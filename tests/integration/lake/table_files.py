"""Properties files of tables that a test makes."""

from __future__ import annotations

from pathlib import Path

from lakecontract.properties import TableConfig, load_tables

__all__ = ["table_config"]

BASE = Path(__file__).parents[3] / "spark" / "properties" / "base.properties"


def table_config(
    folder: Path, database: str, name: str, kind: str, keys: str, *more: str
) -> TableConfig:
    """Write the file of a table `database.name` with further lines, and read it."""
    file = folder / f"{database}.{name}.properties"
    given = (
        f"include={BASE}",
        f"hoodie.database.name={database}",
        f"hoodie.table.name={name}",
        f"hoodie.datasource.write.table.type={kind}",
        f"hoodie.datasource.write.recordkey.field={keys}",
        *more,
        f"hoodie.streamer.source.kafka.topic={database}.{name}",
        f"hoodie.streamer.source.dfs.root=topics/{database}.{name}",
    )
    file.write_text("\n".join(given), encoding="utf-8")
    (config,) = load_tables([file])
    return config
