"""Names in a Hudi table: its own folder, its properties, its own columns."""

from __future__ import annotations

__all__ = [
    "COMMIT_TIME",
    "FILE_NAME",
    "KEY_COLUMN",
    "META_PREFIX",
    "OWN_FOLDER",
    "PARTITION_FIELDS",
    "PARTITION_PATH",
    "PROPERTIES",
    "READ_OPTIMIZED",
    "RECORD_KEY",
    "parse_properties",
]

OWN_FOLDER = ".hoodie"
"""Folder of the timeline and the properties, inside the table's folder."""
PROPERTIES = f"{OWN_FOLDER}/hoodie.properties"
META_PREFIX = "_hoodie_"
COMMIT_TIME, FILE_NAME = f"{META_PREFIX}commit_time", f"{META_PREFIX}file_name"
PARTITION_PATH = f"{META_PREFIX}partition_path"
KEY_COLUMN = f"{META_PREFIX}record_key"
"""The column with the whole key of a row, as text."""
RECORD_KEY = "hoodie.table.recordkey.fields"
PARTITION_FIELDS = "hoodie.table.partition.fields"
READ_OPTIMIZED = "hoodie.read.use.read_optimized.mode"


def parse_properties(text: str) -> dict[str, str]:
    """Parse the file PROPERTIES."""
    lines = (line.partition("=") for line in text.splitlines() if not line.startswith("#"))
    return {key.strip(): value.strip() for key, equals, value in lines if equals}
