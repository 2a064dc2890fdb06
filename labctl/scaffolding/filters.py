"""Addition of a table to a connector's filters, and removal from them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.kafkaconnect.column_filters import COLUMNS_LEFT_OUT
from labctl.kafkaconnect.connector_files import ConnectorFile
from labctl.lab.connectors.table_filters import EXCLUDED, TABLES, entries_of, refused_by
from labctl.sources import TableRef
from lakecontract.regular_files import read_text

__all__ = ["with_table", "without_columns", "without_table"]


def with_table(file: ConnectorFile, engine: EngineName, ref: TableRef) -> str | None:
    """Return the connector file's text with the table added to its filters; None if it passes them.

    Raises LabError (USAGE) if an exclude list would have to be changed for it.
    """
    text, config = read_text(file.path), dict(file.config)
    changed = None
    while (key := refused_by(config, engine, ref)) is not None:
        if key == EXCLUDED:
            raise LabError(
                f"{file.path}:{file.line_of(key)}: {key} leaves {ref} out",
                hint="nothing was changed; take the table out of that list first",
                exit_code=ExitCode.USAGE,
            )
        added = re.escape(ref.schema if key != TABLES else ref.name)
        entry = added if key != TABLES else f"{re.escape(ref.schema)}.{added}"
        config[key] = ",".join([*entries_of(config, key), entry])
        changed = text = _set(text, key, config[key])
    return changed


def without_table(file: ConnectorFile, ref: TableRef) -> str | None:
    """Return the connector file's text without the table in its list; None if nothing changes."""
    entries = entries_of(file.config, TABLES)
    left = [entry for entry in entries if re.sub(r"\\|[\[\]]", "", entry) != str(ref)]
    if left == entries or not left:
        return None
    return _set(read_text(file.path), TABLES, ",".join(left))


def without_columns(text: str, config: Mapping[str, str], listed: str) -> str:
    """Return a connector file's text with this list of columns that the connector leaves out."""
    if COLUMNS_LEFT_OUT in config:
        return _set(text, COLUMNS_LEFT_OUT, listed)
    line = f"{json.dumps(COLUMNS_LEFT_OUT)}: {json.dumps(listed, ensure_ascii=False)},"
    return re.sub(
        r'(\s*)("connector\.class"\s*:)',
        lambda match: f"{match[1]}{line}{match[1]}{match[2]}",
        text,
        count=1,
    )


def _set(text: str, key: str, value: str) -> str:
    """Return the file's text with a new value for a key, and nothing else changed."""
    return re.sub(
        rf'("{re.escape(key)}"\s*:\s*)"(?:[^"\\]|\\.)*"',
        lambda match: match[1] + json.dumps(value, ensure_ascii=False),
        text,
    )
