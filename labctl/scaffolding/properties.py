"""Properties files for new tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from labctl.shipped import shipped
from labctl.tables import PROPERTIES
from lakecontract.properties import DATABASE_KEY

__all__ = ["BASE", "base_text", "free_table_name", "silver_name", "table_text"]

BASE = "base.properties"
"""The file with the properties that all tables of a folder share."""


def base_text(database: str) -> str:
    """Return labctl's own shared properties, for silver tables of `database`."""
    text = shipped(str(PROPERTIES / BASE)).read_text(encoding="utf-8")
    return re.sub(
        rf"^{re.escape(DATABASE_KEY)}=.*$", f"{DATABASE_KEY}={database}", text, flags=re.M
    )


def table_text(
    *,
    topic: str,
    table: str,
    keys: Sequence[str],
    topics_dir: str,
    database: str | None = None,
    base: str = BASE,
) -> str:
    """Return the properties of one silver table. `base` is the path of the shared properties.

    `database` is the silver table's database if it differs from that of `base`; `topics_dir` is the
    folder that the sink connector writes.
    """
    lines = [
        f"include={base}",
        "",
        *([f"{DATABASE_KEY}={database}"] if database else []),
        f"hoodie.table.name={table}",
        "hoodie.datasource.write.table.type=MERGE_ON_READ",
        f"hoodie.datasource.write.recordkey.field={','.join(keys)}",
        "",
        f"hoodie.streamer.source.kafka.topic={topic}",
        f"hoodie.streamer.source.dfs.root={topics_dir}/{topic}",
    ]
    return "\n".join(lines) + "\n"


def silver_name(name: str) -> str:
    """Convert a name to one for silver tables and databases: lower case, digits, underscores."""
    lowered = re.sub(r"[^a-z0-9_]", "_", name.lower())
    return lowered if lowered[:1].isalpha() or lowered[:1] == "_" else f"_{lowered}"


def free_table_name(
    database: str, source: str, schema: str, table: str, taken: Collection[str]
) -> tuple[str | None, str]:
    """Return a new table's database in silver, None for the usual one, and its name.

    The name is that of the source. If it is taken, the table goes to a database named after the
    source; if it is taken there too, its schema is prefixed. `taken` has all existing full names.
    """
    plain, own = silver_name(table), silver_name(source)
    if f"{database}.{plain}" not in taken:
        return None, plain
    if f"{own}.{plain}" not in taken:
        return own, plain
    return own, f"{silver_name(schema)}_{plain}"
