"""Athena's views in a catalog: Presto views, whose text is in the table's definition."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlapi.sql.types import Type

__all__ = ["is_view", "view_input", "view_text"]

_TEXT = re.compile(r"/\* Presto View: (\S+) \*/")


def is_view(definition: Mapping[str, Any]) -> bool:
    return definition.get("TableType") == "VIRTUAL_VIEW"


def view_text(original: str) -> dict[str, Any] | None:
    """Return originalSql, catalog, schema and columns of a Presto view; None for other texts."""
    found = _TEXT.fullmatch(original.strip())
    if not found:
        return None
    try:
        told = json.loads(base64.b64decode(found[1], validate=True))
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or not all(
        isinstance(told.get(key), str) for key in ("originalSql", "schema")
    ):
        return None
    return told


def view_input(
    name: str, sql: str, *, catalog: str, database: str, columns: Sequence[tuple[str, Type]]
) -> dict[str, Any]:
    """Return Glue's TableInput of a view; `database` is the default for table names in `sql`."""
    made = [(label.lower(), kind) for label, kind in columns]
    told = {
        "originalSql": sql,
        "catalog": catalog.lower(),
        "schema": database,
        "columns": [{"name": label, "type": str(kind)} for label, kind in made],
    }
    text = base64.b64encode(json.dumps(told).encode()).decode()
    return {
        "Name": name,
        "TableType": "VIRTUAL_VIEW",
        "Parameters": {"presto_view": "true", "comment": "Presto View"},
        "ViewOriginalText": f"/* Presto View: {text} */",
        "ViewExpandedText": "/* Presto View */",
        "PartitionKeys": [],
        "StorageDescriptor": {
            "Columns": [{"Name": label, "Type": kind.glue} for label, kind in made],
            "Location": "",
            "SerdeInfo": {},
        },
    }
