"""Table properties in HoodieStreamer's format: `include=`, `hoodie.*`, and our `lab.*` keys."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from lakehouse.errors import ConfigurationError
from lakehouse.older_keys import ORDERING, TABLE, read_as_today
from lakehouse.older_keys import ROOT as BRONZE_ROOT_KEY
from lakehouse.older_keys import TOPIC as TOPIC_KEY

__all__ = [
    "BRONZE_ROOT_KEY",
    "BUCKETS",
    "LAB_KEYS",
    "TOPIC_KEY",
    "TableConfig",
    "TableType",
    "load_tables",
    "read_placed",
    "read_properties",
]

TableType = Literal["COPY_ON_WRITE", "MERGE_ON_READ"]

LAB_KEYS: Mapping[str, tuple[str, ...]] = {
    "lab.deletes": ("soft", "hard"),
    "lab.on.bad.record": ("stop", "deadletter"),
}
"""Every key of ours that is a choice, with its values; the first is the default."""

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
"""Every key that is read as a number, with its default. Hudi's own are handed on to Hudi, too."""

_PARTITION = "hoodie.datasource.write.partitionpath.field"
_KEY_GENERATOR = "hoodie.datasource.write.keygenerator.class"
_NONPARTITIONED = "org.apache.hudi.keygen.NonpartitionedKeyGenerator"

_REQUIRED = (
    TABLE,
    "hoodie.datasource.write.table.type",
    "hoodie.datasource.write.recordkey.field",
    ORDERING,
    TOPIC_KEY,
    BRONZE_ROOT_KEY,
)
_TABLE_TYPES = ("COPY_ON_WRITE", "MERGE_ON_READ")
_TABLE_NAME = re.compile(r"[a-z_][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class TableConfig:
    """One silver table: where its changes come from and how Hudi keeps them."""

    name: str
    file: Path
    """The properties file it is described in."""
    topic: str
    bronze_root: str
    """Folder of the topic's bronze files, relative to the bronze base path."""
    key_fields: tuple[str, ...]
    ordering_field: str
    table_type: TableType
    deletes: Literal["soft", "hard"]
    on_bad_record: Literal["stop", "deadletter"]
    compact_after_commits: int
    """Delta commits between two compactions (MERGE_ON_READ only)."""
    compact_after_records: int
    """Records in its log files, of all buckets together, that ask for a compaction before that."""
    keep_minutes: int
    """Minutes that time travel reaches back at least, however many commits there are in them."""
    hoodie: Mapping[str, str]
    """All `hoodie.*` write options, as given to Hudi."""
    older_keys: tuple[str, ...] = ()
    """What was read as an older version of Hudi meant it: file, line, key, and as what."""

    def line_of(self, key: str) -> int:
        """The line of its file that sets `key`; the first where an included file sets it."""
        lines = self.file.read_text(encoding="utf-8").splitlines()
        return next(
            (n for n, line in enumerate(lines, 1) if line.partition("=")[0].strip() == key), 1
        )

    def retaining(self, commits: int) -> dict[str, str]:
        """Hudi's options with which cleaning leaves `commits` at least, and archiving the timeline
        that goes with them: of itself Hudi keeps either so many commits or so many hours."""
        counts = {key: int(self.hoodie.get(key, default)) for key, default in _RETENTION.items()}
        more = max(0, commits - counts[_KEEP_COMMITS])
        return {key: str(count + more) for key, count in counts.items()}


def read_properties(path: Path) -> dict[str, str]:
    """Key and value pairs of `path`; `include=` names further files beside it, which it overrides.

    Raises ConfigurationError for a line that is no pair, a missing file or a circle of includes.
    """
    return _read(path, (), {})


def read_placed(path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """`read_properties`, and by key the file and line that set it."""
    places: dict[str, str] = {}
    return _read(path, (), places), places


def _read(path: Path, parents: tuple[Path, ...], places: dict[str, str]) -> dict[str, str]:
    """`read_properties` of a file that `parents` include; `places` gets file and line by key."""
    if path in parents:
        raise ConfigurationError(f"{path} includes itself", hint="Remove one `include=`")
    whence = f" ({parents[-1]} includes it)" if parents else ""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{path} cannot be read: {error.strerror}{whence}",
            hint="Give the path of a properties file",
        ) from None
    except ValueError as error:  # not UTF-8, or a name that no file can have
        raise ConfigurationError(
            f"{path} cannot be read: {error}{whence}", hint="Correct it"
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
                included |= _read(path.parent / name.strip(), (*parents, path), places)
        else:
            own[key] = value
            lines[key] = f"{path}:{number}"
    places.update(lines)
    return included | own


def load_tables(
    paths: Iterable[Path], *, only: Iterable[str] = (), overrides: Mapping[str, str] | None = None
) -> list[TableConfig]:
    """The tables described by `paths`: properties files, or folders of files named as topics.

    `only` keeps the named tables; `overrides` win over every file (`--hoodie-conf`).
    """
    tables = [_read_table(file, overrides or {}) for file in _files(paths)]
    by_name: dict[str, TableConfig] = {}
    for table in tables:
        if table.name in by_name:
            raise ConfigurationError(
                f"Two properties files describe the table {table.name}", hint="Remove one"
            )
        by_name[table.name] = table
    wanted = list(only)
    if unknown := [name for name in wanted if name not in by_name]:
        raise ConfigurationError(
            f"No properties file describes {', '.join(unknown)}",
            hint=f"Choose from {', '.join(sorted(by_name))}",
        )
    return [by_name[name] for name in wanted] if wanted else tables


def _files(paths: Iterable[Path]) -> list[Path]:
    files: list[Path] = []
    for path in paths:
        found = sorted(path.glob("*.*.*.properties")) if path.is_dir() else [path]
        if not found:
            raise ConfigurationError(
                f"{path} holds no <prefix>.<schema>.<table>.properties", hint="Give another folder"
            )
        files += found
    return files


def _read_table(path: Path, overrides: Mapping[str, str]) -> TableConfig:
    """The table of a file, whichever version of Hudi its keys are of."""
    values, places = read_placed(path)
    reading = read_as_today(values)
    if problems := [f"{places[key]}: {key}: {why}" for key, why in reading.problems.items()]:
        raise ConfigurationError("; ".join(problems), hint="Correct the file")
    table = _table(path, reading.values | dict(overrides))
    return replace(table, older_keys=reading.sentences(places))


def _table(path: Path, properties: Mapping[str, str]) -> TableConfig:
    if missing := [key for key in _REQUIRED if not properties.get(key)]:
        raise ConfigurationError(f"{path} lacks {', '.join(missing)}", hint="Add the key")
    lab = {key: values[0] for key, values in LAB_KEYS.items()}
    hoodie: dict[str, str] = {}
    for key, value in properties.items():
        if key.startswith("hoodie."):
            hoodie[key] = value
        elif key in _COUNTS:
            continue
        elif key not in LAB_KEYS:
            own = ", ".join((*LAB_KEYS, *(key for key in _COUNTS if key.startswith("lab."))))
            raise ConfigurationError(
                f"{path}: unknown key `{key}`",
                hint=f"Keys are `hoodie.*`, `include` and {own}",
            )
        elif value not in LAB_KEYS[key]:
            raise ConfigurationError(
                f"{path}: {key}={value} is not allowed", hint=f"Use {' or '.join(LAB_KEYS[key])}"
            )
        else:
            lab[key] = value
    table_type = hoodie["hoodie.datasource.write.table.type"]
    if table_type not in _TABLE_TYPES:
        raise ConfigurationError(
            f"{path}: table type {table_type} is unknown", hint=f"Use {' or '.join(_TABLE_TYPES)}"
        )
    name = hoodie[TABLE]
    if not _TABLE_NAME.fullmatch(name):
        raise ConfigurationError(
            f"{path}: `{name}` is no table name", hint="Use a-z, 0-9 and _, a letter first"
        )
    _check_unpartitioned(path, hoodie)
    counts = {key: _count(path, properties, key) for key in _COUNTS}
    return TableConfig(
        name=name,
        file=path,
        topic=hoodie[TOPIC_KEY],
        bronze_root=hoodie[BRONZE_ROOT_KEY].strip("/"),
        key_fields=tuple(
            field.strip() for field in hoodie["hoodie.datasource.write.recordkey.field"].split(",")
        ),
        ordering_field=hoodie[ORDERING],
        table_type=cast("TableType", table_type),
        deletes=cast("Literal['soft', 'hard']", lab["lab.deletes"]),
        on_bad_record=cast("Literal['stop', 'deadletter']", lab["lab.on.bad.record"]),
        compact_after_commits=counts[_COMPACT_COMMITS],
        compact_after_records=counts[_COMPACT_RECORDS] * counts[BUCKETS],
        keep_minutes=counts[_KEEP_MINUTES],
        hoodie=hoodie,
    )


def _check_unpartitioned(path: Path, hoodie: Mapping[str, str]) -> None:
    """Refuse a table in partitions: the index looks for a key in the row's own partition alone, so
    that a row whose partition changes would be there twice, and its delete would leave one."""
    field = hoodie.get(_PARTITION, "")
    if not field:
        return
    generator = hoodie.get(_KEY_GENERATOR, "")
    what = (
        f"has no effect with {_KEY_GENERATOR}={generator}"
        if generator == _NONPARTITIONED
        else f"would keep a row twice when its {field} changes: tables in partitions are not "
        "supported"
    )
    raise ConfigurationError(
        f"{path}: {_PARTITION}={field} {what}",
        hint=f"Write {_PARTITION}= (empty) and {_KEY_GENERATOR}={_NONPARTITIONED}",
    )


def _count(path: Path, properties: Mapping[str, str], key: str) -> int:
    text = properties.get(key, str(_COUNTS[key]))
    least = 0 if key == _KEEP_MINUTES else 1
    if not text.isdecimal() or int(text) < least:
        raise ConfigurationError(
            f"{path}: {key}={text} is no count", hint=f"Use a whole number of {least} or more"
        )
    return int(text)
