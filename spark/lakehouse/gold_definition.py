"""What the application knows of a view that it keeps as a table.

Nothing in this module needs Spark, so whoever submits the application can import it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lakehouse.errors import ConfigurationError
from lakehouse.older_keys import ORDERING
from lakehouse.partitions import FIELDS, KEY_GENERATOR, NONPARTITIONED
from lakehouse.properties import (
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
"""A definition's tables are called so, with a number: one for each place that reads one."""
GROUPS = "lab_groups"
"""The table of groups that `rows_of_groups` reads."""
KEY = "lab_key_"
"""Its columns, with their numbers."""
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
    """The columns that say which group a row is."""
    rows: str
    """All rows."""
    groups: str
    """The groups that joined rows are in."""
    rows_of_groups: str
    """The rows of the groups in `GROUPS`."""

    @property
    def digest(self) -> str:
        """Of all that is said of it, and of how its keys are written."""
        said = asdict(self) | {"row_key": "escaped"}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:16]

    def table_config(self, like: TableConfig, overrides: Mapping[str, str]) -> TableConfig:
        """How Hudi keeps it: as it keeps a silver table, but for what is its own.

        `overrides` win over the properties of `like` (`--hoodie-conf`).
        """
        database, _, table = self.name.partition(".")
        own = {
            DATABASE_KEY: database,
            SYNCED_DATABASE_KEY: database,
            TABLE_KEY: table,
            "hoodie.datasource.hive_sync.table": table,
            TABLE_TYPE: "COPY_ON_WRITE",
            RECORD_KEY: ROW_KEY,
            # What is computed later is what holds. Hudi wants a field, and does not look at it.
            "hoodie.write.record.merge.mode": "COMMIT_TIME_ORDERING",
            ORDERING: ROW_KEY,
            BUCKETS: "1",
            FIELDS: "",
            KEY_GENERATOR: NONPARTITIONED,
            # A group that is no longer there is removed.
            "lab.deletes": "hard",
            # Nothing brings it changes but the tables that it reads.
            TOPIC_KEY: self.name,
            BRONZE_ROOT_KEY: self.name,
        }
        (config,) = load_tables([like.file], overrides={**overrides, **own})
        return config


def written_definitions(definitions: Iterable[GoldDefinition]) -> str:
    """The file that `read_definitions` reads."""
    return json.dumps([asdict(definition) for definition in definitions], indent=2)


def read_definitions(file: Path) -> list[GoldDefinition]:
    """Raises ConfigurationError."""
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
