"""The sources and tables of a new project."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from labctl.config.lab_config import NOT_SOURCES
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError
from labctl.sources import ENGINES, TableRef

__all__ = [
    "NewSource",
    "NewTable",
    "engine_of",
    "named_source",
    "require_source_name",
    "source_section",
]

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,29}")


@dataclass(frozen=True)
class NewTable:
    """A table that is to be captured."""

    ref: TableRef
    keys: tuple[str, ...]


@dataclass(frozen=True)
class NewSource:
    """A source database of a new project, with its tables."""

    name: str
    engine: EngineName
    database: str | None
    """The database's name; None if schemas are databases."""
    schemas: tuple[str, ...]
    tables: tuple[NewTable, ...]
    schema_sql: str
    rows_sql: str | None = None
    notes: tuple[str, ...] = field(default=())
    """Facts that a person should know about it, one sentence each."""
    left_out: tuple[str, ...] = field(default=())
    """Expressions for the columns that its connector leaves out."""

    @property
    def schema_file(self) -> str:
        return f"db/{self.name}.sql"

    @property
    def rows_file(self) -> str | None:
        return None if self.rows_sql is None else f"db/{self.name}-rows.sql"

    def section(self, connector: str) -> str:
        """Return its section of lab.toml."""
        text = source_section(self.name, self.engine, self.database, self.schemas, connector)
        text += f'schema_file = "{self.schema_file}"\n'
        return text if self.rows_file is None else text + f'rows_file = "{self.rows_file}"\n'


def source_section(
    name: str, engine: EngineName, database: str | None, schemas: Sequence[str], connector: str
) -> str:
    """Return a source's section of lab.toml."""
    lines = [f"[sources.{name}]", f'engine = "{engine}"']
    if database is not None:
        lines.append(f"database = {json.dumps(database, ensure_ascii=False)}")
    named = json.dumps(list(schemas), ensure_ascii=False)
    lines += [f"schemas = {named}", f'connector = "{connector}"']
    return "\n".join(lines) + "\n"


def require_source_name(name: str, form: str) -> None:
    """Raise LabError (USAGE) if `name` is no valid source name; `form` shows the correct form."""
    if _NAME.fullmatch(name) is None or name in NOT_SOURCES:
        raise LabError(
            f"{name!r} cannot name a source",
            hint=f"write {form}: lower-case letters, digits, _ and -, a "
            f"letter first, 30 at most, and none of {', '.join(sorted(NOT_SOURCES))}",
            exit_code=ExitCode.USAGE,
        )


def named_source(text: str) -> tuple[str, EngineName]:
    """Return name and engine from text such as `orders=postgres`. Raises LabError (USAGE)."""
    name, _, engine = text.partition("=")
    require_source_name(name, f"NAME=ENGINE, as in orders={next(iter(ENGINES))}")
    known = engine_of(engine)
    if known is None:
        raise LabError(
            f"{text!r} names no engine",
            hint=f"write {name}=ENGINE with one of {', '.join(ENGINES)}",
            exit_code=ExitCode.USAGE,
        )
    return name, known


def engine_of(word: str) -> EngineName | None:
    """Return the engine that people call `word`: its name, or the scheme of its URLs."""
    names = (name for name, engine in ENGINES.items() if word in (name, engine.scheme))
    return next(names, None)
