"""Letting connectors capture: rights, publications, change data capture of tables.

All of it is done as the sources' owner, so that a trigger or a function of a source runs as nobody
else. The logins are there: each server's service has made them.
"""

from __future__ import annotations

from collections.abc import Iterable

from labctl.config.aws import AwsProfile
from labctl.config.model import Source as SourceSettings
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.files import ConnectorFile
from labctl.kafkaconnect.keys import SIGNALS
from labctl.lab.capture_checks import check_capturable
from labctl.lab.lab import Lab
from labctl.lab.table_fitness import require_fit_sources
from labctl.sources import CDC_USER, Source, TableRef, connect
from labctl.sources.signal_table import make_signal_table, own_signals
from labctl.tables import PROPERTIES

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
    check_capturable(lab, files)
    missing: dict[str, tuple[str, ...]] = {}
    by_name = {file.name: file for file in files}
    for name, settings in lab.config.sources.items():
        if settings.connector in by_name:
            with connect(lab.endpoints, name) as database:
                _require_schemas(lab, name, settings, database)
    require_fit_sources(lab, by_name.values())
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


def _require_schemas(lab: Lab, name: str, settings: SourceSettings, database: Source) -> None:
    known = database.schemas()
    if missing := next((schema for schema in settings.schemas if schema not in known), None):
        where = f"database {settings.database}" if settings.database else "the server"
        raise LabError(
            f"{lab.project / 'lab.toml'}: sources.{name}.schemas: {where} has no schema "
            f"{missing!r}",
            hint="`labctl seed` makes those of the lab's data sets; a schema of your own must be "
            f"there before its connector; tables are those in {PROPERTIES}",
            exit_code=ExitCode.USAGE,
        )
