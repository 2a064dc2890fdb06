"""Setup that lets connectors capture: rights, publications, change data capture of tables.

labctl does all of it as the sources' owner, so that no trigger or function of a source runs as
another user. The logins exist already: each server's service has created them.
"""

from __future__ import annotations

from collections.abc import Iterable

from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.kafkaconnect.keys import SIGNALS
from labctl.lab.connectors.capture_instances import follow_instances, instances_of
from labctl.lab.connectors.source_refusals import look_at_sources
from labctl.lab.lab import Lab
from labctl.sources import CDC_USER, TableRef, connect
from labctl.sources.signal_table import make_signal_table, own_signals

__all__ = ["set_up_capture"]


def set_up_capture(lab: Lab, files: Iterable[ConnectorFile]) -> dict[str, tuple[str, ...]]:
    """Let each of these connectors read what it captures. Safe to repeat.

    Only existing tables that have a properties file are set up. Returns a message for each of the
    others, by connector: such a table may be created later. Raises LabError (USAGE) for a schema
    that its database lacks, or for tables that cannot be captured, and then changes no database.
    For a promoted lab it does nothing: the plan's SQL does all of this.
    """
    if lab.promoted is not None:
        return {}
    files = list(files)
    look_at_sources(lab, files).raise_any()
    missing: dict[str, tuple[str, ...]] = {}
    by_name = {file.name: file for file in files}
    for name, settings in lab.config.sources.items():
        file = by_name.get(settings.connector)
        if file is None:
            continue
        with connect(lab.endpoints, name) as database:
            there = {ref for schema in settings.schemas for ref in database.tables(schema)}
            wanted = [
                (table, TableRef(table.db_schema, table.source_name))
                for table in lab.tables
                if table.source == name
            ]
            # Each table once: several silver tables may have the same source table.
            found = list(dict.fromkeys(ref for _, ref in wanted if ref in there))
            missing[file.name] = tuple(t.without_source for t, ref in wanted if ref not in there)
            captured = [table for table, ref in wanted if ref in there]
            # Both before and after: an instance that is made now follows none without a gap.
            follow_instances(lab, instances_of(database, captured, file.publication))
            database.capture(found, file.publication)
            follow_instances(lab, instances_of(database, captured, file.publication))
            if (signals := own_signals(file.config.get(SIGNALS, ""))) is not None:
                make_signal_table(database, signals, file.publication)
            for schema in settings.schemas:
                database.let_read(CDC_USER, schema)
    return missing
