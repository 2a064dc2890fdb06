"""Letting connectors capture: rights, publications, change data capture of tables.

All of it is done as the sources' owner, so that a trigger or a function of a source runs as nobody
else. The logins are there: each server's service has made them.
"""

from __future__ import annotations

from collections.abc import Iterable

from labctl.config.aws import AwsProfile
from labctl.kafkaconnect.files import ConnectorFile
from labctl.kafkaconnect.keys import SIGNALS
from labctl.lab.lab import Lab
from labctl.lab.source_refusals import look_at_sources
from labctl.sources import CDC_USER, TableRef, connect
from labctl.sources.signal_table import make_signal_table, own_signals

__all__ = ["set_up_capture"]


def set_up_capture(lab: Lab, files: Iterable[ConnectorFile]) -> dict[str, tuple[str, ...]]:
    """Let each of these connectors read what it captures. Safe to repeat.

    Of tables, those with a properties file that are there; what to say of the others, by connector:
    a table may still be to be made. Raises LabError (USAGE) naming a schema that its database does
    not have, or tables that cannot be captured; no database is changed then. Of a promoted lab, the
    plan's SQL does all of it.
    """
    if isinstance(lab.config.profiles[lab.profile], AwsProfile):
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
            # Once each: several silver tables may be of one source table.
            found = list(dict.fromkeys(ref for _, ref in wanted if ref in there))
            missing[file.name] = tuple(t.without_source for t, ref in wanted if ref not in there)
            database.capture(found, file.publication)
            if (signals := own_signals(file.config.get(SIGNALS, ""))) is not None:
                make_signal_table(database, signals, file.publication)
            for schema in settings.schemas:
                database.let_read(CDC_USER, schema)
    return missing
