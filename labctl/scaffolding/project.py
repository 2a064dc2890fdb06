"""A new project: all files with which a lab of your own begins."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from labctl.config.lab_config import LabConfig
from labctl.datasets import data_set
from labctl.errors import ExitCode, LabError
from labctl.scaffolding.examples import EXAMPLE_TABLE
from labctl.scaffolding.new_connectors import SINK, connector_name, sink_text, source_text
from labctl.scaffolding.new_source import NewSource, source_section
from labctl.scaffolding.properties import (
    BASE,
    base_text,
    free_table_name,
    silver_name,
    table_text,
)
from labctl.scaffolding.tests_text import tests_text
from labctl.shipped import shipped
from labctl.sinks import sink_files, used_sinks
from labctl.state.file_changes import change_files, finish_changes
from labctl.tables import CONNECTORS, GOLD, PROPERTIES, lab_tables
from lakecontract.properties import included_files

__all__ = [
    "SCHEMA_FILE",
    "NewProject",
    "Written",
    "lab_name",
    "new_project",
    "require_no_project",
    "write_project",
]

_Places = dict[str, list[tuple[str | None, str]]]
"""Database (None for the usual one) and name of each table in silver, by source."""
_TOPICS_DIR = "topics"
"""Folder in which labctl's own sink file puts bronze."""
_NAME_LENGTH = 30
SCHEMA_FILE = Path(__file__).with_name("lab.schema.json")
"""JSON schema of `lab.toml`: editors complete and check the file by a copy beside it."""
_MAKEFILE = """\
.PHONY: up test down destroy

up: ## start the lab; make and capture its tables
	labctl up

test: up ## the tests, on the lab that runs
	pytest

down: ## stop the lab; its data stays
	labctl down

destroy: ## remove the lab and its data
	labctl destroy
"""
_QUICK_START = """\
# Usable sooner after a start. For loads of millions of rows, take these sections out.
[services.connect]
quick_start = true

[services.silver]
quick_start = true
"""
_PROFILES = """\
[profiles.native]
runtime = "native"

[profiles.compose]
runtime = "compose"     # `labctl --profile compose up`: the same in containers
"""
_GITIGNORE = "__pycache__/\n.pytest_cache/\npromoted/\nplugins/\n"
_PYTEST = """\
[pytest]
testpaths = tests
# The lab that `labctl up` has started. `pytest --lab=` makes one for the run, and removes it.
addopts = --lab {name}
"""


@dataclass(frozen=True)
class NewProject:
    """The files of a project, by their path in its folder, and facts about it."""

    name: str
    files: Mapping[str, str]
    data_sets: tuple[str, ...]
    table: str | None
    """A silver table to look at first."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Written:
    """The result of writing a project."""

    written: tuple[str, ...]
    kept: tuple[str, ...]
    """Files that existed already and were not changed."""


def lab_name(text: str) -> str:
    """Derive a lab's name from a folder's name. Raises LabError (USAGE) if it is not valid."""
    name = (
        re.sub(r"[^a-z0-9-]+", "-", text.lower()).lstrip("-0123456789")[:_NAME_LENGTH].rstrip("-")
    )
    if LabConfig.valid_name(name):
        return name
    raise LabError(
        f"{text!r} cannot name a lab",
        hint="give one with --name: lower-case letters, digits and dashes, a letter first",
        exit_code=ExitCode.USAGE,
    )


def new_project(
    name: str, sources: Sequence[NewSource], data_sets: Sequence[str] = ()
) -> NewProject:
    """Return the project of a lab with these sources, and with those that the data sets fill.

    Raises LabError (USAGE) for two sources of one name, or a data set for which labctl has no lab.
    """
    files: dict[str, str] = {}
    sections: list[str] = []
    folders: list[str] = []
    taken = [source.name for source in sources]
    for one in data_sets:
        config, copied = _data_set_files(one)
        files |= copied
        folders += config.silver.properties
        sections += [
            source_section(source, s.engine, s.database, s.schemas, s.connector)
            for source, s in config.sources.items()
        ]
        taken += config.sources
    if twice := next((one for one in taken if taken.count(one) > 1), None):
        raise LabError(
            f"Two sources are called {twice!r}",
            hint="give each a name of its own, and leave those of the data sets to them",
            exit_code=ExitCode.USAGE,
        )
    database = silver_name(name)
    places = _places(sources, database)
    if sources:
        folders.insert(0, str(PROPERTIES))
        sections += [source.section(connector_name(source.name)) for source in sources]
        files |= _source_files(sources, places, database, has_base=bool(data_sets))
    called = _called(places, database)
    files["lab.toml"] = _lab_toml(name, sections, data_sets, list(dict.fromkeys(folders)))
    examples = [s for s in sources if [t.ref.name for t in s.tables] == [EXAMPLE_TABLE]]
    example = examples[0] if examples else None
    files[SCHEMA_FILE.name] = SCHEMA_FILE.read_text("utf-8")
    files["tests/test_lab.py"] = tests_text(example, called[example.name][0] if example else "")
    files["pytest.ini"] = _PYTEST.format(name=name)
    files["Makefile"] = _MAKEFILE
    files[".gitignore"] = _GITIGNORE
    return NewProject(
        name,
        dict(sorted(files.items())),
        tuple(data_sets),
        next((tables[0] for tables in called.values() if tables), None),
        tuple(note for source in sources for note in source.notes),
    )


def require_no_project(folder: Path) -> None:
    """Raise LabError (USAGE) if the folder has a lab.toml.

    A project that a killed command began to write is completed first.
    """
    completed = finish_changes(folder)
    if (folder / "lab.toml").exists():
        written = "what an interrupted command began" if completed else "nothing"
        raise LabError(
            f"{folder / 'lab.toml'} is there: this is a project already",
            hint=f"{written} was written; `labctl table add` adds a table, or name another folder",
            exit_code=ExitCode.USAGE,
        )


def write_project(folder: Path, project: NewProject) -> Written:
    """Write the files that do not exist yet. Raises LabError (USAGE) if there is a lab.toml."""
    require_no_project(folder)
    there = {name for name in project.files if os.path.lexists(folder / name)}
    new = {name: text for name, text in project.files.items() if name not in there}
    change_files(folder, {folder / name: text.encode() for name, text in new.items()})
    return Written(tuple(new), tuple(name for name in project.files if name in there))


def _source_files(
    sources: Sequence[NewSource], places: _Places, database: str, *, has_base: bool
) -> dict[str, str]:
    """Return connectors, properties and SQL of the sources that belong to no data set."""
    files = {f"{CONNECTORS}/{SINK}.json": sink_text([source.name for source in sources])}
    if not has_base:
        files[f"{PROPERTIES}/{BASE}"] = base_text(database)
    for source in sources:
        connector = source_text(
            source.name, source.engine, source.schemas, left_out=source.left_out
        )
        files[f"{CONNECTORS}/{connector_name(source.name)}.json"] = connector
        files[source.schema_file] = source.schema_sql
        if source.rows_file is not None and source.rows_sql is not None:
            files[source.rows_file] = source.rows_sql
        for table, (other, name) in zip(source.tables, places[source.name], strict=True):
            topic = f"{source.name}.{table.ref.schema}.{table.ref.name}"
            # The base file of a data set names the data set's own database.
            named = other or (database if has_base else None)
            files[f"{PROPERTIES}/{topic}.properties"] = table_text(
                topic=topic, table=name, keys=table.keys, database=named, topics_dir=_TOPICS_DIR
            )
    return files


def _places(sources: Sequence[NewSource], database: str) -> _Places:
    """Return each table's database (None for the usual one) and name in silver, by source."""
    places: _Places = {}
    taken: set[str] = set()
    for source in sources:
        places[source.name] = []
        for table in source.tables:
            ref = table.ref
            other, name = free_table_name(database, source.name, ref.schema, ref.name, taken)
            taken.add(f"{other or database}.{name}")
            places[source.name].append((other, name))
    return places


def _called(places: _Places, database: str) -> dict[str, list[str]]:
    """Return the tables' names in silver, by source; with the database if two share a name."""
    count = Counter(name for tables in places.values() for _, name in tables)
    return {
        source: [
            name if count[name] == 1 else f"{other or database}.{name}" for other, name in tables
        ]
        for source, tables in places.items()
    }


def _data_set_files(name: str) -> tuple[LabConfig, dict[str, str]]:
    """Return labctl's own lab that the data set fills, and its files."""
    _ = data_set(name)
    root = shipped("")
    for path in (root / "lab.toml", *sorted((root / "labs").glob("*.toml"))):
        config = LabConfig.load(path)
        if name in config.data_sets:
            break
    else:
        raise LabError(
            f"labctl comes with no lab for the data set {name!r}",
            hint="name its sources with --source, and the data set in lab.toml",
            exit_code=ExitCode.USAGE,
        )
    # Import here: it loads the SQL of Athena.
    from labctl.lake.gold import load_views, views_over
    from labctl.lake.queries import QUERIES, load_queries, queries_over

    tables = lab_tables(root, config)
    properties = {table.properties.file for table in tables}
    names = [table.name for table in tables]
    views = views_over(load_views(root / GOLD), names)
    queries = queries_over(load_queries(root / QUERIES), [*names, *(view.name for view in views)])
    paths = {
        *properties,
        *(file.resolve() for one in properties for file in included_files(one)),
        *(sink.file.path for sink in used_sinks(sink_files(root), tables)),
        *(root / CONNECTORS / f"{s.connector}.json" for s in config.sources.values()),
        *(view.file for view in views),
        *(query.file for query in queries),
    }
    texts = {
        path.resolve().relative_to(root.resolve()).as_posix(): path.read_text(encoding="utf-8")
        for path in paths
    }
    return config, texts


def _lab_toml(
    name: str, sections: Iterable[str], data_sets: Sequence[str], folders: Sequence[str]
) -> str:
    head = [
        f"#:schema {SCHEMA_FILE.name}",
        "# The lab. Every key is explained in labctl's docs/configuration.md.",
        f'name = "{name}"',
        *([f"data_sets = {json.dumps(list(data_sets))}"] if data_sets else []),
    ]
    parts = ["\n".join(head) + "\n", *sections]
    if list(folders) != [str(PROPERTIES)]:
        parts.append(f"[silver]\nproperties = {json.dumps(list(folders))}\n")
    if not data_sets:
        parts.append(_QUICK_START)
    parts += [f'[lake]\nbucket = "{name}-lake"\n', _PROFILES]
    return "\n".join(parts)
