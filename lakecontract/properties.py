"""Table properties in HoodieStreamer's format: `include=`, `hoodie.*`, and our `lab.*` keys."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, cast

from lakecontract.errors import ConfigurationError
from lakecontract.older_keys import ORDERING, read_as_today
from lakecontract.older_keys import ROOT as BRONZE_ROOT_KEY
from lakecontract.older_keys import TABLE as TABLE_KEY
from lakecontract.older_keys import TOPIC as TOPIC_KEY
from lakecontract.partitions import (
    FIELDS,
    KEY_GENERATOR,
    NONPARTITIONED,
    partition_fields,
    partition_options,
)
from lakecontract.regular_files import read_text
from lakecontract.table_names import AmbiguousTableError, find_table

__all__ = [
    "BRONZE_ROOT_KEY",
    "BUCKETS",
    "DATABASE_KEY",
    "LAB_KEYS",
    "RECORD_KEY",
    "SYNCED_DATABASE_KEY",
    "TABLE_KEY",
    "TABLE_TYPE",
    "TOPIC_KEY",
    "TableConfig",
    "TableType",
    "included_files",
    "load_tables",
    "named_tables",
    "read_placed",
    "read_properties",
]

TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]

LAB_KEYS: Mapping[str, tuple[str, ...]] = {
    "lab.deletes": ("soft", "hard"),
    "lab.on.bad.record": ("stop", "deadletter"),
    "lab.commit": ("direct", "spark"),
}
"""Every `lab.*` key with a choice of values; the first value is the default."""

DATABASE_KEY = "hoodie.database.name"
SYNCED_DATABASE_KEY = "hoodie.datasource.hive_sync.database"
"""Key of the database in which the table is registered: the same. Existing files use it."""
BUCKETS = "hoodie.bucket.index.num.buckets"
_COMPACT_COMMITS = "hoodie.compact.inline.max.delta.commits"
_COMPACT_RECORDS = "lab.compact.after.records"
_KEEP_MINUTES = "lab.keep.minutes"
_KEEP_COMMITS = "hoodie.clean.commits.retained"
_RETENTION = {_KEEP_COMMITS: 10, "hoodie.keep.min.commits": 20, "hoodie.keep.max.commits": 30}
"""Commits whose files are kept, and how many the timeline has when archiving ends and begins."""
_COUNTS = {
    _COMPACT_COMMITS: 40,
    BUCKETS: 256,
    _COMPACT_RECORDS: 500_000,
    _KEEP_MINUTES: 5,
    **_RETENTION,
}
"""Every key that is read as a number, with its default. Hudi's own keys go to Hudi, too."""

TABLE_TYPE = "hoodie.datasource.write.table.type"
RECORD_KEY = "hoodie.datasource.write.recordkey.field"
_REQUIRED = (
    TABLE_KEY,
    TABLE_TYPE,
    RECORD_KEY,
    ORDERING,
    TOPIC_KEY,
    BRONZE_ROOT_KEY,
)
_TABLE_TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
_NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class TableConfig:
    """A silver table: the source of its changes, and how Hudi keeps them."""

    database: str
    table: str
    """Its name in the database."""
    file: Path
    """The properties file that describes it."""
    topic: str
    bronze_root: str
    """Folder of the topic's bronze files, relative to the bronze base path."""
    key_fields: tuple[str, ...]
    partition_fields: tuple[str, ...]
    """The columns that define a row's partition; none for an unpartitioned table."""
    ordering_field: str
    table_type: TableType
    deletes: Literal["soft", "hard"]
    on_bad_record: Literal["stop", "deadletter"]
    commit: Literal["direct", "spark"]
    """The Hudi writer that commits few rows: the one without an engine, or Spark's."""
    compact_after_commits: int
    """Delta commits between two compactions (MERGE_ON_READ only)."""
    compact_after_records: int
    """Records in the log files of all buckets together that trigger an earlier compaction."""
    keep_minutes: int
    """Minutes that time travel reaches back at least, however many commits they have."""
    hoodie: Mapping[str, str]
    """All `hoodie.*` write options, as given to Hudi."""
    older_keys: tuple[str, ...] = ()
    """Keys that were read by the rules of an older Hudi: file, line, key, and new meaning."""

    @property
    def name(self) -> str:
        """The table's name everywhere: `database.table`."""
        return f"{self.database}.{self.table}"

    @property
    def buckets(self) -> str:
        """Number of buckets that its rows are spread over; empty when that is left to Hudi."""
        return self.hoodie.get(BUCKETS, "")

    @property
    def path(self) -> str:
        """The table's folder, relative to that of all silver tables."""
        return f"{self.database}/{self.table}"

    @property
    def digest(self) -> str:
        """Hash of the whole configuration; the same wherever its file lies."""
        said = asdict(replace(self, file=Path(), older_keys=()))
        text = json.dumps(said, sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def in_one_piece(self) -> TableConfig:
        """Return the same configuration without partitions."""
        plain = {FIELDS: "", KEY_GENERATOR: NONPARTITIONED}
        return replace(self, partition_fields=(), hoodie={**self.hoodie, **plain})

    def place_of(self, key: str) -> str:
        """Return the file and line that set `key`; line 1 if an included file sets it."""
        return _place(self.file, key)

    def retaining(self, commits: int) -> dict[str, str]:
        """Return Hudi's options to keep at least `commits` commits, and the timeline with them.

        On its own, Hudi keeps either a number of commits or a number of hours.
        """
        counts = {key: int(self.hoodie.get(key, default)) for key, default in _RETENTION.items()}
        more = max(0, commits - counts[_KEEP_COMMITS])
        return {key: str(count + more) for key, count in counts.items()}


def read_properties(path: Path) -> dict[str, str]:
    """Return the pairs of `path`, which override those of the files beside it in `include=`.

    Raises ConfigurationError for a line that is no pair, a missing file or a circle of includes.
    """
    return _read(path, (), {}, [])


def read_placed(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return `read_properties` of `path`, and by key the file and line that set it."""
    places: dict[str, str] = {}
    return _read(path, (), places, []), places


_MOST_INCLUDES = 1000
_REFUSED = {
    ("hoodie.metadata.index.async", "true"): (
        "indexes are part of each commit here; one that is made beside them is never finished, and "
        "no commit succeeds"
    ),
}
"""Settings with which a table would never commit, with the reason."""


def _read(
    path: Path, parents: tuple[Path, ...], places: dict[str, str], includes: list[Path]
) -> dict[str, str]:
    """Read the properties of a file that `parents` include.

    `places` receives file and line by key, `includes` the files that it includes.
    """
    if path in parents:
        raise ConfigurationError(f"{path} includes itself", hint="Remove one `include=`")
    origin = f" ({parents[-1]} includes it)" if parents else ""
    if len(includes) > _MOST_INCLUDES:
        raise ConfigurationError(
            f"{parents[0]} includes more than {_MOST_INCLUDES} files", hint="Include fewer"
        )
    try:
        text = read_text(path)
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error.strerror}{origin}",
            hint="Give the path of a properties file",
        ) from None
    except ValueError as error:  # not UTF-8, or a name that no file can have
        raise ConfigurationError(
            f"{path} cannot be read: {error}{origin}", hint="Correct it"
        ) from None
    own: dict[str, str] = {}
    lines: dict[str, str] = {}
    included: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        stripped = line.strip()
        if not stripped or stripped[0] in "#!":
            continue
        key, separator, value = (part.strip() for part in stripped.partition("="))
        if not separator or not key:
            raise ConfigurationError(
                f"{path}:{number}: `{stripped}` is not `key=value`", hint="Correct the line"
            )
        if key == "include":
            for name in value.split(","):
                includes.append(path.parent / name.strip())
                included |= _read(includes[-1], (*parents, path), places, includes)
        else:
            own[key] = value
            lines[key] = f"{path}:{number}"
    places.update(lines)
    return included | own


def load_tables(
    paths: Iterable[Path], *, only: Iterable[str] = (), overrides: Mapping[str, str] | None = None
) -> list[TableConfig]:
    """Load the tables described by `paths`: properties files, or folders of files named as topics.

    `only` keeps the named tables, by short names where they are unique. `overrides`
    (`--hoodie-conf`) have precedence over every file.
    """
    tables = [_read_table(file, overrides or {}) for file in _files(paths)]
    by_name: dict[str, TableConfig] = {}
    for table in tables:
        if (other := by_name.setdefault(table.name, table)) is not table:
            raise ConfigurationError(
                f"{_place(other.file, TABLE_KEY)} and {_place(table.file, TABLE_KEY)} both "
                f"describe the table {table.name}",
                hint=f"Remove one, or give one another {DATABASE_KEY} or {TABLE_KEY}",
            )
    return [by_name[name] for name in named_tables(only, by_name)] or tables


def named_tables(wanted: Iterable[str], tables: Iterable[str]) -> list[str]:
    """Return the full names of the `wanted` ones of `tables`. Raises ConfigurationError."""
    names = sorted(tables)
    found = []
    for name in wanted:
        try:
            full = find_table(name, names)
        except AmbiguousTableError as error:
            raise ConfigurationError(str(error), hint="Write the database, too") from None
        if full is None:
            raise ConfigurationError(
                f"No properties file describes {name}", hint=f"Choose from {', '.join(names)}"
            )
        found.append(full)
    return found


def _files(paths: Iterable[Path]) -> list[Path]:
    """Return the files of tables: in a folder, those that no other file there includes."""
    files: list[Path] = []
    for path in paths:
        found = sorted(_visible(path)) if path.is_dir() else [path]
        if path.is_dir():
            included = {part.resolve() for file in found for part in included_files(file)}
            found = [file for file in found if file.resolve() not in included]
        if not found:
            raise ConfigurationError(
                f"{path} holds no <topic>.properties", hint="Give another folder"
            )
        files += found
    return files


def _visible(folder: Path) -> Iterator[Path]:
    """Return the properties files of a folder, without hidden ones, which are an editor's."""
    return (path for path in folder.glob("*.properties") if not path.name.startswith("."))


def _read_table(path: Path, overrides: Mapping[str, str]) -> TableConfig:
    """Read the table of a file, whichever version of Hudi its keys are of."""
    values, places = read_placed(path)
    reading = read_as_today(values)
    if problems := [f"{places[key]}: {key}: {why}" for key, why in reading.problems.items()]:
        raise ConfigurationError("; ".join(problems), hint="Correct the file")
    table = _table(path, reading.values | dict(overrides), places)
    return replace(table, older_keys=reading.sentences(places))


def included_files(path: Path) -> list[Path]:
    """Return the files that a properties file includes, directly or through others."""
    found: list[Path] = []
    _read(path, (), {}, found)
    return found


def _place(path: Path, key: str) -> str:
    """Return the file and line that set `key`; line 1 if an included file sets it."""
    lines = read_text(path).splitlines()
    found = [n for n, line in enumerate(lines, 1) if line.partition("=")[0].strip() == key]
    return f"{path}:{found[-1] if found else 1}"


def _table(path: Path, properties: Mapping[str, str], places: Mapping[str, str]) -> TableConfig:
    def place(key: str) -> str:
        return places.get(key) or _place(path, key)

    if not any(key in properties for key in (TABLE_KEY, TOPIC_KEY)):
        raise ConfigurationError(
            f"{path} describes no table, and no other file includes it",
            hint="Each table has a file of its own, which includes what tables share: write one "
            f"with {TABLE_KEY} and {TOPIC_KEY}, or remove this file",
        )
    if missing := [key for key in _REQUIRED if not properties.get(key)]:
        raise ConfigurationError(f"{path} lacks {', '.join(missing)}", hint="Add the key")
    lab = {key: values[0] for key, values in LAB_KEYS.items()}
    hoodie: dict[str, str] = {}
    for key, value in properties.items():
        if (key, value.lower()) in _REFUSED:
            raise ConfigurationError(
                f"{place(key)}: {key}={value} is not allowed: {_REFUSED[key, value.lower()]}",
                hint="Remove the line",
            )
        if key.startswith("hoodie."):
            hoodie[key] = value
        elif key in _COUNTS:
            continue
        elif key not in LAB_KEYS:
            own = ", ".join((*LAB_KEYS, *(key for key in _COUNTS if key.startswith("lab."))))
            raise ConfigurationError(
                f"{place(key)}: unknown key `{key}`",
                hint=f"Keys are `hoodie.*`, `include` and {own}",
            )
        elif value not in LAB_KEYS[key]:
            raise ConfigurationError(
                f"{place(key)}: {key}={value} is not allowed",
                hint=f"Use {' or '.join(LAB_KEYS[key])}",
            )
        else:
            lab[key] = value
    table_type = hoodie[TABLE_TYPE]
    if table_type not in _TABLE_TYPES:
        raise ConfigurationError(
            f"{place(TABLE_TYPE)}: table type {table_type} is unknown",
            hint=f"Use {' or '.join(_TABLE_TYPES)}",
        )
    table = hoodie[TABLE_KEY]
    database_key = SYNCED_DATABASE_KEY if hoodie.get(SYNCED_DATABASE_KEY) else DATABASE_KEY
    database = hoodie.get(database_key, "")
    for key, name in ((TABLE_KEY, table), (database_key, database)):
        if not _NAME.fullmatch(name):
            raise ConfigurationError(
                f"{place(key)}: {key}={name} is no name",
                hint="Use a-z, 0-9 and _, a letter first",
            )
    hoodie |= {DATABASE_KEY: database, SYNCED_DATABASE_KEY: database}
    keys = tuple(field.strip() for field in hoodie[RECORD_KEY].split(","))
    hoodie |= partition_options(hoodie, keys, place)
    counts = {key: _count(place, properties, key) for key in _COUNTS}
    return TableConfig(
        database=database,
        table=table,
        file=path,
        topic=hoodie[TOPIC_KEY],
        bronze_root=hoodie[BRONZE_ROOT_KEY].strip("/"),
        key_fields=keys,
        partition_fields=partition_fields(hoodie),
        ordering_field=hoodie[ORDERING],
        table_type=cast("TableType", table_type),
        deletes=cast("Literal['soft', 'hard']", lab["lab.deletes"]),
        on_bad_record=cast("Literal['stop', 'deadletter']", lab["lab.on.bad.record"]),
        commit=cast("Literal['direct', 'spark']", lab["lab.commit"]),
        compact_after_commits=counts[_COMPACT_COMMITS],
        compact_after_records=counts[_COMPACT_RECORDS] * counts[BUCKETS],
        keep_minutes=counts[_KEEP_MINUTES],
        hoodie=hoodie,
    )


def _count(place: Callable[[str], str], properties: Mapping[str, str], key: str) -> int:
    text = properties.get(key, str(_COUNTS[key]))
    least = 0 if key == _KEEP_MINUTES else 1
    if not text.isdecimal() or int(text) < least:
        raise ConfigurationError(
            f"{place(key)}: {key}={text} is no count",
            hint=f"Use a whole number of {least} or more",
        )
    return int(text)
