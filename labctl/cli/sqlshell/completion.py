"""Completions of Tab: commands, keywords, and the catalog's names where they can stand."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from sqlglot.dialects import Trino

from labctl.cli.sqlshell.completion_names import Names
from labctl.cli.sqlshell.shell_input import in_text, split

__all__ = ["SqlCompleter"]

_RESERVED = frozenset(word.upper() for word in Trino.generator_class.RESERVED_KEYWORDS)
"""Words that are no names in Athena's SQL unless they are quoted."""
_MORE = """
    ALL ANY ASC COLUMNS COUNT CUBE CURRENT_DATE DATABASE DATABASES DESC EXPLAIN FIRST GROUPING IF
    LAST LIMIT NULLS OFFSET OVER PARTITION PARTITIONS RECURSIVE REPLACE ROLLUP ROWS SCHEMA SCHEMAS
    SHOW TABLES TABLESAMPLE TRIM UNLOAD UNNEST VIEW VIEWS
"""
_KEYWORDS = sorted({*_RESERVED, *_MORE.split()})
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_NAME = r'(?:"[^"]+"|[A-Za-z_]\w*)'
_ALIAS = rf"(?:\s+(?:AS\s+)?(?!(?:{'|'.join(_RESERVED)})\b)({_NAME}))?"
_TABLE = re.compile(rf"({_NAME}(?:\s*\.\s*{_NAME})?){_ALIAS}", re.IGNORECASE)
_TABLES = re.compile(
    rf"\b(?:FROM|JOIN)\s+(?P<list>{_TABLE.pattern}(?:\s*,\s*{_TABLE.pattern})*)", re.IGNORECASE
)
_WORD = re.compile(r'(?:(?P<owner>[\w".]+)\.)?(?P<word>"?\w*)\Z')
_BEFORE = re.compile(r"(\w+)\s+\Z")
_LIST = re.compile(r"\b(?:FROM|JOIN)\s+[\w\s\".,]*,\s*\Z", re.IGNORECASE)
_TABLE_FOLLOWS = {"FROM", "JOIN", "TABLE", "INTO", "DESCRIBE", "VIEW"}
_DATABASE_FOLLOWS = {"DATABASE", "SCHEMA", "IN"}


class SqlCompleter(Completer):
    """`database` tells the one that names without a database belong to; `commands` are
    `sqlshell.commands`' names, each with what its argument may be."""

    def __init__(
        self,
        names: Names,
        database: Callable[[], str],
        commands: Mapping[str, Callable[[], Iterable[str]]],
    ) -> None:
        self._names = names
        self._database = database
        self._commands = commands

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        text = document.text_before_cursor
        statements = [*split(text)]
        if statements and statements[-1].is_command:
            yield from self._of_command(statements[-1].text, text)
            return
        if in_text(text):
            return
        found = _WORD.search(text)
        assert found is not None  # noqa: S101 - it matches the empty word
        word = found["word"]
        offered = (
            self._of_owner(found["owner"], document.text)
            if found["owner"]
            else self._at(text[: found.start()], word, document.text)
        )
        yield from _matching(offered, word)

    def _of_command(self, command: str, text: str) -> Iterator[Completion]:
        name, space, _ = command.partition(" ")
        if not space and not text.endswith(" "):
            yield from _matching(self._commands, name)
        elif name in self._commands:
            argument = text.rsplit(None, 1)[-1] if not text.endswith(" ") else ""
            yield from _matching(self._commands[name](), argument)

    def _at(self, before: str, word: str, statement: str) -> Iterable[str]:
        previous = _BEFORE.search(before)
        follows = previous[1].upper() if previous else ""
        if follows in _DATABASE_FOLLOWS:
            return [_quoted(name) for name in self._names.databases()]
        if follows in _TABLE_FOLLOWS or _LIST.search(before):
            tables = [_quoted(name) for name in self._names.tables(self._database())]
            return tables + [f"{_quoted(name)}." for name in self._names.databases()]
        columns = [
            column
            for database, table, alias in self._tables_of(statement)
            for column in (*self._columns(database, table), *([alias] if alias else []))
        ]
        keywords = map(str.lower, _KEYWORDS) if word.islower() else _KEYWORDS
        return [*dict.fromkeys(columns), *keywords]

    def _of_owner(self, owner: str, statement: str) -> Iterable[str]:
        """Return the names that may follow a dot."""
        names = _names(owner)
        if len(names) == 2:
            return self._columns(*names)
        for database, table, alias in self._tables_of(statement):
            if names[0] == (alias or table):
                return self._columns(database, table)
        if names[0] in self._names.databases():
            return [_quoted(name) for name in self._names.tables(names[0])]
        return self._columns(self._database(), names[0])

    def _columns(self, database: str, table: str) -> list[str]:
        found = self._names.tables(database).get(table)
        return [_quoted(column.name) for column in found.columns] if found else []

    def _tables_of(self, statement: str) -> Iterator[tuple[str, str, str | None]]:
        """Database, table and alias of what the statement reads."""
        for clause in _TABLES.finditer(statement):
            for found in _TABLE.finditer(clause["list"]):
                *database, table = _names(found[1])
                yield (database[0] if database else self._database()), table, found[2]


def _names(dotted: str) -> list[str]:
    """Without quotes, and in small letters as the catalog has them."""
    return [part.strip().strip('"').lower() for part in dotted.split(".")]


def _matching(offered: Iterable[str], word: str) -> Iterator[Completion]:
    wanted = word.lower().removeprefix('"')
    for one in offered:
        if one.lower().removeprefix('"').startswith(wanted):
            yield Completion(one, start_position=-len(word))


def _quoted(name: str) -> str:
    """`name` as it is written in SQL: between quotes where it has to be."""
    if _PLAIN.fullmatch(name) and name.upper() not in _RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'
