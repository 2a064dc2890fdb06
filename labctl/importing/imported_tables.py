"""Importing a folder of properties files that were written for Hudi's streamer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from labctl.errors import ExitCode, LabError
from labctl.importing.import_changes import UNFILLED, Import, ImportedFile, is_unfilled
from labctl.importing.project import Project, files_of, target_of
from labctl.lake.hudi_keys import unknown_key
from labctl.shipped import own_or_shipped
from labctl.tables import PROPERTIES
from lakecontract.errors import ConfigurationError
from lakecontract.older_keys import ORDERING, ROOT, TABLE, TOPIC, Edit, read_as_today
from lakecontract.partitions import key_generator
from lakecontract.properties import LAB_KEYS, TableType, read_placed, read_properties

__all__ = ["import_tables"]

_BASE = "base.properties"
_SUFFIX = ".properties"
_TYPE = "hoodie.datasource.write.table.type"
_KEY = "hoodie.datasource.write.recordkey.field"
_PARTITION = "hoodie.datasource.write.partitionpath.field"
_STYLE = "hoodie.datasource.write.hive_style_partitioning"
_GENERATOR = "hoodie.datasource.write.keygenerator.class"
_INDEX = "hoodie.index.type"
_OPERATION = "hoodie.datasource.write.operation"
_SAME_IN_EVERY_ROW = ("__table", "__db", "__schema", "__name", "__connector")
_INCLUDE = re.compile(r"\s*include\s*=")


@dataclass
class _Table:
    """A file, with the files that it includes, while it is adapted to a lab."""

    path: Path
    values: dict[str, str]
    """Values by key, from the file and those that it includes."""
    places: dict[str, str]
    edits: dict[str, Edit] = field(default_factory=dict)
    added: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Keys that the files lack, each with its value and the reason."""
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def place(self, key: str) -> str:
        """Return the file and line of the key, or of the older key that is read as it."""
        older = (old for old, edit in self.edits.items() if key in edit.becomes)
        return self.places.get(next(older, key), f"{self.path}:1")

    def now(self) -> dict[str, str]:
        """Return the table's keys after all edits."""
        found: dict[str, str] = {}
        for key, value in self.values.items():
            found |= self.edits[key].becomes if key in self.edits else {key: value}
        return found | {key: value for key, (value, _) in self.added.items()}

    def leave_out(self, key: str, why: str) -> None:
        if key in self.values:
            self.edits[key] = Edit({}, why)

    def refuse(self, key: str, what: str) -> None:
        place = self.places.get(key, f"{self.path}:1")
        self.problems.append(f"{place}: {key}: {what}")

    def said(self) -> tuple[str, ...]:
        edits = [f"{self.places[key]}: {edit.sentence(key)}" for key, edit in self.edits.items()]
        added = [
            f"{self.path}: {key}={value} is added ({why})"
            for key, (value, why) in self.added.items()
        ]
        return (*edits, *added)


def import_tables(
    folder: Path, project: Project, table_types: Sequence[tuple[str, TableType]] = ()
) -> Import:
    """Return the import that lets a lab of `project` create the tables of `folder`.

    `table_types` are for tables whose files do not set the type, because the streamer's command
    line did: a pattern of file names, and the type. The last one that matches counts.
    Raises LabError (USAGE) if the folder has no file of a table, or if a file cannot be read.
    """
    result = Import()
    here = project.folder / PROPERTIES
    base = own_or_shipped(project.folder, f"{PROPERTIES}/{_BASE}")
    shared = read_properties(base)
    seen: dict[str, Path] = {}
    for table in _read(folder, result):
        matching = [kind for pattern, kind in table_types if fnmatchcase(table.path.name, pattern)]
        _edit(table, shared, matching[-1] if matching else None)
        name = _file_name(table.now(), seen)
        result.problems += table.problems
        result.notes += table.notes
        if name is None:
            continue
        if (other := seen.setdefault(name, table.path)) != table.path:
            result.problems.append(f"{table.path} and {other} describe one table; remove one")
            continue
        before = table.path.read_text(encoding="utf-8")
        after = _text(table, before, shared)
        target = target_of(here, name.removesuffix(_SUFFIX), _SUFFIX, table.path)
        result.files.append(ImportedFile(table.path, target, before, after, table.said()))
    if not seen and not result.problems:
        raise LabError(
            f"{folder} holds no properties file of a table",
            hint="a table's file has hoodie.* keys, and no other file includes it",
            exit_code=ExitCode.USAGE,
        )
    if base != here / _BASE:
        text = base.read_text(encoding="utf-8")
        result.files.append(ImportedFile(base, here / _BASE, text, text))
    return result


def _read(folder: Path, result: Import) -> list[_Table]:
    """Return the tables' files: files with Hudi's keys that no other file includes."""
    paths = files_of(folder, "*.properties")
    included = {
        (path.parent / name.strip()).resolve()
        for path in paths
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines()
        if _INCLUDE.match(line)
        for name in line.partition("=")[2].split(",")
    }
    tables = []
    for path in paths:
        if path.resolve() in included:
            result.notes.append(f"{path} is included by others: its keys go into their files")
            continue
        try:
            values, places = read_placed(path)
        except ConfigurationError as error:
            raise LabError(str(error), exit_code=ExitCode.USAGE) from None
        if not any(key.startswith("hoodie.") for key in values):
            result.notes.append(f"{path} is left alone: it has no key of Hudi's")
            continue
        tables.append(_Table(path, values, places))
    return tables


def _edit(table: _Table, shared: Mapping[str, str], table_type: TableType | None) -> None:
    """Change a table's keys to what a lab needs."""
    reading = read_as_today(table.values)
    table.edits.update(reading.edits)
    for key, why in reading.problems.items():
        table.refuse(key, why)
    _partitions(table)
    _index(table)
    if table.values.get(_OPERATION, "upsert").lower() != "upsert":
        table.refuse(_OPERATION, "rows are upserted by their key; remove the key")
    _names(table)
    now = table.now()
    if not now.get(_KEY):
        table.refuse(_KEY, "missing; write the columns of the table's primary key")
    if _TYPE not in now and table_type is not None:
        table.added[_TYPE] = (table_type, "--table-type")
    elif _TYPE not in now:
        table.refuse(
            _TYPE,
            "missing: the streamer was told the type on its command line; import with --table-type "
            "COPY_ON_WRITE or MERGE_ON_READ (some of the files: PATTERN=TYPE), or write the key",
        )
    ordering = {**shared, **now}.get(ORDERING, "")
    if ordering and not ordering.startswith("__"):
        table.notes.append(
            f"{table.place(ORDERING)}: rows are ordered by {ordering}: a change that sets it back, "
            "or to NULL, never arrives. Without this key, the order is that of the topic"
        )
    if ORDERING not in {**shared, **now}:
        table.added[ORDERING] = ("__kafka_offset", "the order of a key's changes in their topic")
    _check_rest(table, shared)


def _names(table: _Table) -> None:
    """Derive the topic, the folder of its bronze files and the table's name from each other."""
    now = table.now()
    topic = now.get(TOPIC) or now.get(ROOT, "").rpartition("/")[2]
    folder = now.get(ROOT, "").rpartition("/")[2]
    if folder and topic != folder:
        table.refuse(
            next((key for key in table.values if key.endswith("dfs.root")), ROOT),
            f"its last folder is {folder}, and the topic is {topic}; a topic's bronze files are in "
            "a folder of its name: correct one of them",
        )
    if not topic:
        table.refuse(TOPIC, "missing; write the topic that the table is made from")
    elif TOPIC not in now:
        table.added[TOPIC] = (topic, "the folder of its bronze files is called so")
    if ROOT not in now and topic:
        table.added[ROOT] = (f"topics/{topic}", "where bronze files are by default")
    if TABLE not in now and topic:
        table.added[TABLE] = (topic.rpartition(".")[2], "the last part of the topic")


def _check_rest(table: _Table, shared: Mapping[str, str]) -> None:
    """Check the keys that stay unchanged, and search all values for placeholders."""
    own = {*LAB_KEYS, *shared, TOPIC, ROOT}
    for key, value in table.values.items():
        edit = table.edits.get(key)
        became = {key: value} if edit is None else edit.becomes
        if any(map(is_unfilled, became.values())):
            table.refuse(key, UNFILLED)
        if edit is not None or key in own or key in {p.split(": ")[1] for p in table.problems}:
            continue
        if not key.startswith("hoodie."):
            table.refuse(key, "it is no key of Hudi's, and nothing would read it; remove it")
        elif unknown := unknown_key(key):
            table.refuse(key, unknown)


def _partitions(table: _Table) -> None:
    field_ = table.now().get(_PARTITION, "")
    if field_ in _SAME_IN_EVERY_ROW:
        why = f"{field_} is the same in every row: the table would have one partition"
        for key in (_PARTITION, _STYLE):
            table.leave_out(key, why)
        field_ = ""
    if not field_:
        table.leave_out(_GENERATOR, "the table has no partitions")
    elif _GENERATOR not in table.values:
        keys = table.now().get(_KEY, "").split(",")
        generator = key_generator(field_.split(","), keys)
        table.added[_GENERATOR] = (generator, f"{_BASE} has one for tables without partitions")


def _index(table: _Table) -> None:
    """Remove other indexes than BUCKET, or refuse one that BUCKET cannot replace.

    Without partitions, every index finds the same row, and BUCKET needs no lookup. With partitions,
    the application moves a row whose partition changes, as a global index does.
    """
    now = table.now()
    index = now.get(_INDEX)
    if index in (None, "BUCKET"):
        return
    if now.get(_PARTITION) and not index.startswith("GLOBAL_"):
        table.refuse(
            _INDEX,
            f"{index} leaves a row whose partition changes in the old one, too; here it moves. "
            "Remove the key, with settings of that index",
        )
        return
    table.leave_out(
        _INDEX,
        f"{_BASE} has BUCKET, which finds a row by its key as {index} does, and without a lookup",
    )
    for key in table.values:
        if key.startswith(("hoodie.bloom.index.", "hoodie.simple.index.", "hoodie.global.")):
            table.leave_out(key, f"it is a setting of {index}")


def _file_name(now: Mapping[str, str], seen: Mapping[str, Path]) -> str | None:
    topic = now.get(TOPIC)
    if not topic:
        return None
    name = f"{topic}{_SUFFIX}"
    if name not in seen:
        return name
    # The topic has a second table, for example one of each type.
    kind = now.get("hoodie.datasource.hive_sync.database") or now.get(TABLE, "")
    return f"{topic}.{kind}{_SUFFIX}"


def _text(table: _Table, before: str, shared: Mapping[str, str]) -> str:
    """Return the file's lines with their edits, then the included and the added keys."""
    lines: list[str] = []
    own: set[str] = set()
    has_include = False
    for line in before.splitlines():
        key = line.partition("=")[0].strip()
        if _INCLUDE.match(line):
            if not has_include:
                lines.append(f"include={_BASE}")
            has_include = True
        elif key not in table.values or line.lstrip()[:1] in ("#", "!"):
            lines.append(line)
        else:
            own.add(key)
            edit = table.edits.get(key)
            became = {key: table.values[key]} if edit is None else edit.becomes
            lines += [line] if edit is None else [f"{k}={v}" for k, v in became.items()]
    if not has_include:
        lines.insert(0, f"include={_BASE}")
    rest: dict[str, str] = {}
    for key, value in table.values.items():
        if key not in own:
            edit = table.edits.get(key)
            rest |= {key: value} if edit is None else edit.becomes
    rest |= {key: value for key, (value, _) in table.added.items()}
    rest = {key: value for key, value in rest.items() if shared.get(key) != value}
    if rest:
        lines += ["", *(f"{key}={value}" for key, value in rest.items())]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines).strip("\n")) + "\n"
