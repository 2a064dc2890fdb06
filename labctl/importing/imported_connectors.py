"""Importing a folder of connector files."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from labctl.config.lab_config import LabConfig
from labctl.config.lab_config import Source as SourceSettings
from labctl.engine_names import EngineName
from labctl.importing.edits import Edits
from labctl.importing.import_changes import UNFILLED, Import, ImportedFile, is_unfilled
from labctl.importing.project import Project, files_of, target_of
from labctl.importing.sink_keys import complete_sink
from labctl.importing.source_keys import complete_source, schemas_of
from labctl.kafkaconnect.connector_files import ParsedFile, parse_connector
from labctl.kafkaconnect.keys import as_today, wrong_keys
from labctl.lab.connectors.reference_keys import offered_keys
from labctl.scaffolding.new_connectors import SINK, sink_template, sink_text
from labctl.sources import ENGINES
from labctl.sources.engine_registry import engine_of_connector
from labctl.tables import CONNECTORS
from lakecontract.sink_config import sink_problems
from lakecontract.sink_keys import SINK_CONNECTOR

__all__ = ["import_connectors"]


@dataclass
class _Source:
    """A source connector's file, with the values for its section of lab.toml."""

    parsed: ParsedFile
    connector: str
    engine: EngineName
    edits: Edits
    database: str | None
    schemas: tuple[str, ...]
    name: str = ""

    @property
    def section(self) -> str:
        lines = [f"[sources.{self.name}]", f'engine = "{self.engine}"']
        if self.database is not None:
            lines.append(f"database = {json.dumps(self.database)}")
        lines.append(f"schemas = {json.dumps(list(self.schemas))}")
        lines.append(f"connector = {json.dumps(self.connector)}")
        return "\n".join(lines) + "\n"


def import_connectors(folder: Path, project: Project) -> Import:
    """Return the import that lets the connector files of `folder` run in a lab of `project`.

    Raises LabError (USAGE) if the folder has no files, or if a file cannot be read.
    """
    result = Import()
    sources: list[_Source] = []
    sinks: list[tuple[ParsedFile, Edits]] = []
    for path in files_of(folder, "*.json"):
        parsed = parse_connector(path)
        class_ = parsed.config.get("connector.class")
        if class_ is None:
            result.notes.append(f"{path} is left alone: it has no connector.class")
        elif (engine := engine_of_connector(class_)) is not None:
            sources.append(_read_source(parsed, engine.name, result))
        elif class_ == SINK_CONNECTOR:
            sinks.append((parsed, Edits(parsed)))
        else:
            classes = (known.connector_class for known in ENGINES.values())
            result.problems.append(
                f"{parsed.place('connector.class')}: {class_} is no connector that a lab runs: "
                f"{', '.join((*classes, SINK_CONNECTOR))}; move the file away"
            )
    _name(sources, project)
    for source in sources:
        _finish_source(source, result)
    for parsed, edits in sinks:
        complete_sink(edits)
        edits.problems += [f"{parsed.path}: {problem}" for problem in sink_problems(edits.config)]
        result.problems += edits.problems
    done = [(s.parsed, s.connector, s.edits) for s in sources]
    done += [(parsed, parsed.name or parsed.path.stem, edits) for parsed, edits in sinks]
    for parsed, name, edits in done:
        result.problems += _placeholders(parsed, edits)
        result.notes += edits.notes
        target = target_of(project.folder / CONNECTORS, name, ".json", parsed.path)
        after = _text(parsed, name, edits)
        result.files.append(
            ImportedFile(parsed.path, target, parsed.text, after, tuple(edits.said))
        )
    result.problems += _same_name(result)
    known = {source.get("connector") for source in project.sources.values()}
    result.lab_toml = "\n".join(s.section for s in sources if s.connector not in known)
    if not sinks and not list((project.folder / CONNECTORS).glob("sink_connector_*.json")):
        prefixes = {
            s.edits.config["topic.prefix"] for s in sources if "topic.prefix" in s.edits.config
        }
        result.files.append(_own_sink(project, prefixes))
        result.notes.append(
            f"{folder} has no file of the S3 sink connector: labctl's own comes in its place; its "
            "topics.regex says which topics go to bronze"
        )
    return result


def _own_sink(project: Project, prefixes: Collection[str]) -> ImportedFile:
    """Return labctl's own file of the sink connector, for topics with these prefixes."""
    origin = sink_template()
    before = origin.read_text(encoding="utf-8")
    target = project.folder / CONNECTORS / f"{SINK}.json"
    return ImportedFile(origin, target, before, sink_text(prefixes))


def _read_source(parsed: ParsedFile, engine: EngineName, result: Import) -> _Source:
    today = as_today(parsed.config)
    edits = Edits(parsed, today.config)
    places: dict[str, str] = {}
    for edited, said in today.edits.items():
        places.setdefault(said, parsed.place(edited))
    edits.said += [f"{place}: {said}" for said, place in places.items()]
    result.problems += [f"{parsed.place(at)}: {at}: {why}" for at, why in today.problems.items()]
    database = None
    if (key := ENGINES[engine].connector.database_key) is not None:
        database = edits.config.get(key, "")
        if not database or "${" in database or "," in database:
            result.problems.append(
                f"{parsed.place(key)}: {key}: write the name of the one database that it captures; "
                "lab.toml has it too"
            )
            database = "…"
    return _Source(
        parsed,
        parsed.name or parsed.path.stem,
        engine,
        edits,
        database,
        schemas_of(edits, engine),
    )


def _name(sources: list[_Source], project: Project) -> None:
    """Name each source: its name in lab.toml, or else its engine, database or first schema."""
    there = {str(s.get("connector")): name for name, s in project.sources.items()}
    taken = set(project.sources)
    for source in sources:
        alone = [s.engine for s in sources].count(source.engine) == 1
        wanted = source.engine if alone else source.database or source.schemas[0]
        if alone and source.engine in taken:
            wanted = source.database or source.schemas[0]
        name = there.get(source.connector) or _free(wanted, taken)
        taken.add(name)
        source.name = name


def _free(wanted: str, taken: set[str]) -> str:
    name = re.sub(r"[^a-z0-9_-]", "_", wanted.lower()).lstrip("0123456789_-") or "source"
    number = 2
    free = name
    while free in taken or free in ("kafka", "registry", "objectstore"):
        free, number = f"{name}{number}", number + 1
    return free[:30]


def _finish_source(source: _Source, result: Import) -> None:
    settings = SourceSettings(
        engine=source.engine,
        database=source.database,
        schemas=source.schemas,
        connector=source.connector,
    )
    offered = offered_keys(LabConfig(sources={source.name: settings}))
    complete_source(source.edits, source.name, source.engine, offered)
    result.problems += source.edits.problems
    result.problems += [
        f"{source.parsed.place(problem.partition(':')[0])}: {problem}"
        for problem in wrong_keys(source.edits.config)
    ]


def _placeholders(parsed: ParsedFile, edits: Edits) -> list[str]:
    return [
        f"{parsed.place(key)}: {key}: {UNFILLED}"
        for key, value in edits.config.items()
        if is_unfilled(value)
    ]


def _same_name(result: Import) -> list[str]:
    seen: dict[Path, Path] = {}
    problems = []
    for file in result.files:
        other = seen.setdefault(file.target, file.origin)
        if other != file.origin:
            problems.append(f"{file.origin} and {other} name one connector; remove one of them")
    return problems


def _text(parsed: ParsedFile, name: str, edits: Edits) -> str:
    """Return the file's text if nothing changed; else new JSON in the same form and key order."""
    if edits.config == parsed.config and parsed.path.stem == name:
        return parsed.text
    config: dict[str, str] = edits.in_order()
    content = {"name": name, "config": config} if parsed.is_wrapped else config
    indent = (
        4
        if re.search(r'^    "', parsed.text, re.MULTILINE)
        and not re.search(r'^  "', parsed.text, re.MULTILINE)
        else 2
    )
    return json.dumps(content, indent=indent, ensure_ascii=False) + "\n"
