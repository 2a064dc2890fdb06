"""Remarks on the keys in a lab's files that are not read as they are written."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.lab.connectors.source_files import source_files
from labctl.lab.lab import Lab
from labctl.lake.hudi_keys import unknown_key
from lakecontract.older_keys import ROOT, TOPIC
from lakecontract.properties import TableConfig, read_placed

__all__ = ["remarks_on_keys", "unknown_hudi_keys"]

_READ_BY_THE_APPLICATION = {TOPIC, ROOT}
"""Keys of Hudi's streamer, which is not the program that Hudi's list of keys is for."""


def remarks_on_keys(lab: Lab) -> list[str]:
    """Return one line for each key of an older version, and for each that Hudi does not have."""
    of_connectors = (each for file in source_files(lab) for each in file.older_keys)
    of_tables = (each for table in lab.tables for each in table.properties.older_keys)
    unknown = (each for table in lab.tables for each in unknown_hudi_keys(table.properties))
    return list(dict.fromkeys([*of_connectors, *of_tables, *unknown]))


def unknown_hudi_keys(table: TableConfig) -> Iterator[str]:
    """Yield file, line and key of each `hoodie.*` key of a table that nothing would read."""
    _, places = read_placed(table.file)
    for key in table.hoodie:
        if key in places and key not in _READ_BY_THE_APPLICATION and (why := unknown_key(key)):
            yield f"{places[key]}: {key}: {why}"
