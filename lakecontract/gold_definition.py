"""Definitions of the views that the application keeps as tables.

Nothing in this module needs Spark, so that a launcher of the application can import it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lakecontract.errors import ConfigurationError
from lakecontract.older_keys import ORDERING
from lakecontract.partitions import FIELDS, KEY_GENERATOR, NONPARTITIONED
from lakecontract.properties import (
    BRONZE_ROOT_KEY,
    BUCKETS,
    DATABASE_KEY,
    RECORD_KEY,
    SYNCED_DATABASE_KEY,
    TABLE_KEY,
    TABLE_TYPE,
    TOPIC_KEY,
    TableConfig,
    load_tables,
)

__all__ = [
    "GROUPS",
    "INPUT",
    "KEY",
    "ROW_KEY",
    "GoldDefinition",
    "read_definitions",
    "written_definitions",
]

INPUT = "lab_in_"
"""Prefix of a definition's tables, with a number: one for each place that reads a table."""
GROUPS = "lab_groups"
"""The table of groups that `rows_of_groups` reads."""
KEY = "lab_key_"
"""Prefix of its columns, with their numbers."""
ROW_KEY = "__key"
"""The column of the table by which Hudi knows a row: its group, as JSON."""


@dataclass(frozen=True, slots=True)
class GoldDefinition:
    """A view in Spark's SQL. Its tables are called `lab_in_<number>`."""

    name: str
    """`database.table`."""
    inputs: tuple[str, ...]
    """The silver tables, by their numbers."""
    keys: tuple[str, ...]
    """The columns that identify a row's group."""
    rows: str
    """Query for all rows."""
    groups: str
    """Query for the groups that joined rows are in."""
    rows_of_groups: str
    """Query for the rows of the groups in `GROUPS`."""

    @property
    def digest(self) -> str:
        """Hash of the whole definition, and of how its keys are written."""
        said = asdict(self) | {"row_key": "escaped"}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    def table_config(self, like: TableConfig, overrides: Mapping[str, str]) -> TableConfig:
        """Return the view's table properties: those of a silver table, with its own changes.

        `overrides` (`--hoodie-conf`) have precedence over the properties of `like`.
        """
        database, _, table = self.name.partition(".")
        own = {
            DATABASE_KEY: database,
            SYNCED_DATABASE_KEY: database,
            TABLE_KEY: table,
            "hoodie.datasource.hive_sync.table": table,
            TABLE_TYPE: "COPY_ON_WRITE",
            RECORD_KEY: ROW_KEY,
            # The later result wins. Hudi requires an ordering field, and ignores its value.
            "hoodie.write.record.merge.mode": "COMMIT_TIME_ORDERING",
            ORDERING: ROW_KEY,
            BUCKETS: "1",
            FIELDS: "",
            KEY_GENERATOR: NONPARTITIONED,
            # A group that is no longer there is removed.
            "lab.deletes": "hard",
            # Its changes come only from the tables that it reads.
            TOPIC_KEY: self.name,
            BRONZE_ROOT_KEY: self.name,
        }
        (config,) = load_tables([like.file], overrides={**overrides, **own})
        return config


def written_definitions(definitions: Iterable[GoldDefinition]) -> str:
    """Return the content of the file that `read_definitions` reads."""
    return json.dumps([asdict(definition) for definition in definitions], indent=2)


def read_definitions(file: Path) -> list[GoldDefinition]:
    """Read the definitions in `file`. Raises ConfigurationError if they cannot be used."""
    try:
        told: list[dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
        return [
            GoldDefinition(**one | {key: tuple(one[key]) for key in ("inputs", "keys")})
            for one in told
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"--gold {file} cannot be used: {error}", hint="Start the lab again: labctl writes it"
        ) from None
