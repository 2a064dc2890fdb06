"""A batch as a tree of statements."""

from __future__ import annotations

from dataclasses import dataclass, field

from labctl.sqlserver.sqltypes import SqlType

__all__ = [
    "Argument",
    "Block",
    "Call",
    "Command",
    "Declaration",
    "Declare",
    "If",
    "Jump",
    "Node",
    "Query",
    "SetVariable",
    "TableVariable",
    "TryCatch",
    "While",
]


@dataclass(slots=True)
class Node:
    """A statement; `line` is its first line in the batch."""

    line: int


@dataclass(slots=True)
class Query(Node):
    """The text of a SELECT, INSERT, UPDATE, DELETE, MERGE or DDL statement."""

    verb: str
    text: str


@dataclass(slots=True)
class Command(Node):
    """A statement that the session itself executes: transactions, SET options, USE, PRINT, …"""

    verb: str
    text: str
    words: tuple[str, ...] = ()


@dataclass(slots=True)
class Declaration:
    """A variable of a DECLARE."""

    name: str
    type: SqlType
    initial: str | None


@dataclass(slots=True)
class TableVariable:
    """A `DECLARE @t TABLE (…)`; `columns` is the text in the parentheses."""

    name: str
    columns: str


@dataclass(slots=True)
class Declare(Node):
    variables: list[Declaration | TableVariable]


@dataclass(slots=True)
class SetVariable(Node):
    name: str
    expression: str


@dataclass(slots=True)
class Argument:
    """An argument of EXEC; `text` is that of a literal or variable, None for DEFAULT."""

    name: str | None
    text: str | None
    output: bool


@dataclass(slots=True)
class Call(Node):
    """EXEC of a procedure, or of a string if `dynamic` is set; `into` is INSERT … EXEC's head."""

    procedure: str
    arguments: list[Argument]
    result: str | None = None
    dynamic: str | None = None
    into: str | None = None


@dataclass(slots=True)
class Block(Node):
    body: list[Node] = field(default_factory=list)


@dataclass(slots=True)
class If(Node):
    condition: str
    then: Node
    otherwise: Node | None


@dataclass(slots=True)
class While(Node):
    condition: str
    body: Node


@dataclass(slots=True)
class TryCatch(Node):
    attempt: Block
    handler: Block


@dataclass(slots=True)
class Jump(Node):
    """BREAK, CONTINUE, or RETURN with its expression."""

    verb: str
    expression: str = ""
