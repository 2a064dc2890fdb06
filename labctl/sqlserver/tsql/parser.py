"""Parser of batches. T-SQL needs no semicolons: a statement ends where the next can begin."""

from __future__ import annotations

from functools import lru_cache

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.limits import too_deep
from labctl.sqlserver.sqltypes import SqlType, parse_type
from labctl.sqlserver.tsql.boundaries import STARTS, statement_end
from labctl.sqlserver.tsql.lexer import Token, tokenize
from labctl.sqlserver.tsql.script import (
    Argument,
    Block,
    Call,
    Command,
    Declaration,
    Declare,
    If,
    Jump,
    Node,
    Query,
    SetVariable,
    TableVariable,
    TryCatch,
    While,
)

__all__ = ["LONGEST_KEPT", "parse_arguments", "parse_batch", "parse_declarations"]

_QUERIES = {
    "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "CREATE", "ALTER", "DROP", "TRUNCATE",
}  # fmt: skip
_COMMANDS = {
    "COMMIT", "ROLLBACK", "SAVE", "USE", "PRINT", "RAISERROR", "THROW", "WAITFOR", "GRANT", "DENY",
    "REVOKE", "DBCC", "CHECKPOINT", "KILL", "BACKUP", "RESTORE", "RECONFIGURE", "SHUTDOWN",
}  # fmt: skip
_CURSORS = {"OPEN", "FETCH", "CLOSE", "DEALLOCATE", "GOTO", "BULK", "READTEXT", "WRITETEXT"}


LONGEST_KEPT = 20_000
"""Maximum characters of a batch or statement to cache parsed. Longer ones are data, sent once."""


def parse_batch(text: str) -> tuple[Node, ...]:
    """Return the statements of a batch. Raise `SqlError` 102 if it cannot be parsed."""
    try:
        return _parse(text) if len(text) > LONGEST_KEPT else _parse_and_keep(text)
    except RecursionError:
        raise too_deep() from None


@lru_cache(maxsize=512)
def _parse_and_keep(text: str) -> tuple[Node, ...]:
    return _parse(text)


def _parse(text: str) -> tuple[Node, ...]:
    parser = _Parser(text)
    nodes: list[Node] = []
    while not parser.at_end():
        nodes.append(parser.statement())
    return tuple(nodes)


def parse_declarations(text: str) -> list[Declaration]:
    """Parse a parameter list of a procedure or `sp_executesql`: `@a int, @b char(10) = …`."""
    parser = _Parser(text)
    found: list[Declaration] = []
    while not parser.at_end():
        item = parser.declaration()
        if isinstance(item, TableVariable):
            raise unsupported("a table-valued parameter")
        found.append(item)
        while parser.key() in {"OUTPUT", "OUT", "READONLY"}:
            parser.take()
        parser.skip(",")
    return found


def parse_arguments(text: str) -> list[Argument]:
    """Parse the arguments of an EXEC, as written after the procedure's name."""
    return _Parser(text).arguments(None)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.at = 0
        self._skip_semicolons()

    def _skip_semicolons(self) -> None:
        while self.at < len(self.tokens) and self.tokens[self.at].key == ";":
            self.at += 1

    def at_end(self) -> bool:
        return self.at >= len(self.tokens)

    def key(self, ahead: int = 0) -> str:
        position = self.at + ahead
        return self.tokens[position].key if position < len(self.tokens) else ""

    def take(self) -> Token:
        if self.at_end():
            last = self.tokens[-1].text if self.tokens else ""
            raise SqlError(102, f"Incorrect syntax near '{last}'.", severity=15)
        token = self.tokens[self.at]
        self.at += 1
        return token

    def skip(self, key: str) -> bool:
        if self.key() != key:
            return False
        self.at += 1
        return True

    def expect(self, key: str) -> None:
        if not self.skip(key):
            raise self.error()

    def error(self) -> SqlError:
        position = min(self.at, len(self.tokens) - 1)
        near = self.tokens[position].text if self.tokens else ""
        problem = SqlError(102, f"Incorrect syntax near '{near}'.", severity=15)
        problem.line = self.tokens[position].line if self.tokens else 1
        return problem

    def slice(self, start: int, end: int) -> str:
        """Return the script's text from token `start` up to, not including, token `end`."""
        if start >= end:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def statement(self) -> Node:
        if self.at_end():
            raise self.error()
        token = self.tokens[self.at]
        node = self._statement(token)
        self._skip_semicolons()
        return node

    def _statement(self, token: Token) -> Node:
        key = token.key
        structured = {
            "BEGIN": self._begin, "IF": self._if, "WHILE": self._while, "DECLARE": self._declare,
            "SET": self._set, "EXEC": self._call, "EXECUTE": self._call,
        }.get(key)  # fmt: skip
        if structured is not None:
            return structured()
        if key in {"BREAK", "CONTINUE", "RETURN"}:
            self.at += 1
            start, self.at = self.at, statement_end(self.tokens, self.at - 1)
            return Jump(token.line, key, self.slice(start, self.at))
        if key in _QUERIES or key == "(":
            return self._query(token)
        if key in _COMMANDS:
            return self._command(token)
        if key in _CURSORS:
            raise unsupported(f"the statement {key}")
        if self.at == 0 and token.kind in {"word", "quoted"} and key not in STARTS:
            return self._call(implicit=True)
        raise self.error()

    def _query(self, token: Token) -> Node:
        start, self.at = self.at, statement_end(self.tokens, self.at)
        for position in range(start, self.at):
            if token.key == "INSERT" and self.tokens[position].key in {"EXEC", "EXECUTE"}:
                end, self.at = self.at, position
                node = self._call()
                node.into, self.at = self.slice(start, position), max(end, self.at)
                return node
        return Query(token.line, token.key, self.slice(start, self.at))

    def _command(self, token: Token) -> Command:
        start, self.at = self.at, statement_end(self.tokens, self.at)
        words = tuple(t.text for t in self.tokens[start : self.at])
        return Command(token.line, token.key, self.slice(start, self.at), words)

    def _begin(self) -> Node:
        line = self.take().line
        following = self.key()
        if following in {"TRAN", "TRANSACTION", "DISTRIBUTED"}:
            start, self.at = self.at - 1, statement_end(self.tokens, self.at - 1)
            words = tuple(t.text for t in self.tokens[start : self.at])
            return Command(line, "BEGIN", self.slice(start, self.at), words)
        if following == "TRY":
            self.at += 1
            attempt = self._until_end(line, "TRY")
            self.expect("BEGIN")
            self.expect("CATCH")
            return TryCatch(line, attempt, self._until_end(line, "CATCH"))
        if following in {"DIALOG", "CONVERSATION", "ATOMIC"}:
            raise unsupported(f"BEGIN {following}")
        return self._until_end(line, "")

    def _until_end(self, line: int, word: str) -> Block:
        block = Block(line)
        self._skip_semicolons()
        while self.key() != "END":
            if self.at_end():
                raise self.error()
            block.body.append(self.statement())
        self.at += 1
        if word:
            self.expect(word)
        self._skip_semicolons()
        return block

    def _condition(self) -> str:
        start, self.at = self.at, statement_end(self.tokens, self.at, condition=True)
        return self.slice(start, self.at)

    def _if(self) -> If:
        line = self.take().line
        condition = self._condition()
        then = self.statement()
        otherwise = self.statement() if self.skip("ELSE") else None
        return If(line, condition, then, otherwise)

    def _while(self) -> While:
        line = self.take().line
        condition = self._condition()
        return While(line, condition, self.statement())

    def _declare(self) -> Node:
        line = self.take().line
        found = [self.declaration()]
        while self.skip(","):
            found.append(self.declaration())
        return Declare(line, found)

    def declaration(self) -> Declaration | TableVariable:
        name = self.take()
        if name.kind != "variable":
            self.at -= 1
            if self.key(1) == "CURSOR" or self.key() == "CURSOR":
                raise unsupported("a cursor")
            raise self.error()
        self.skip("AS")
        if self.skip("TABLE"):
            start = self.at
            self._parentheses()
            return TableVariable(name.text.lower(), self.slice(start + 1, self.at - 1))
        if self.key() == "CURSOR":
            raise unsupported("a cursor")
        kind = self._type()
        initial = self._expression() if self.skip("=") else None
        return Declaration(name.text.lower(), kind, initial)

    def _type(self) -> SqlType:
        start = self.at
        self.take()
        while self.skip("."):
            self.take()
        while self.key() in {"VARYING", "PRECISION", "CHARACTER", "CHAR"}:
            self.at += 1
        if self.key() == "(":
            self._parentheses()
        return parse_type(self.slice(start, self.at))

    def _parentheses(self) -> None:
        self.expect("(")
        depth = 1
        while depth:
            key = self.take().key
            depth += {"(": 1, ")": -1}.get(key, 0)

    def _expression(self) -> str:
        start, depth, cases = self.at, 0, 0
        end = statement_end(self.tokens, self.at, condition=True)
        while self.at < end:
            key = self.key()
            cases += {"CASE": 1, "END": -1}.get(key, 0)
            depth += {"(": 1, ")": -1}.get(key, 0)
            if depth == 0 and cases == 0 and key in {",", "OUTPUT", "OUT"}:
                break
            self.at += 1
        if self.at == start:
            raise self.error()
        return self.slice(start, self.at)

    def _set(self) -> Node:
        token = self.take()
        if self.at_end():
            raise self.error()
        if self.tokens[self.at].kind == "variable":
            name = self.take().text
            operator = self.take().key
            expression = self._expression()
            if operator != "=" and operator.endswith("="):
                expression = f"{name} {operator[0]} ({expression})"
            elif operator != "=":
                raise self.error()
            return SetVariable(token.line, name.lower(), expression)
        start, self.at = self.at, statement_end(self.tokens, self.at - 1)
        words = tuple(t.text for t in self.tokens[start : self.at])
        return Command(token.line, "SET", self.slice(start, self.at), words)

    def _call(self, *, implicit: bool = False) -> Call:
        line = self.tokens[self.at].line
        if not implicit:
            self.at += 1
        if self.key() == "(":
            start = self.at
            self._parentheses()
            return Call(line, "", [], dynamic=self.slice(start + 1, self.at - 1))
        if self.key() in {"AS", "LOGIN", "USER"}:
            raise unsupported("EXECUTE AS")
        result = None
        if not self.at_end() and self.tokens[self.at].kind == "variable" and self.key(1) == "=":
            result = self.take().text.lower()
            self.at += 1
        start = self.at
        self.take()
        while self.key() == "." or (self.at > start and self.tokens[self.at - 1].key == "."):
            self.take()
        procedure = self.slice(start, self.at)
        end = statement_end(self.tokens, self.at - 1, condition=True)
        return Call(line, procedure, self.arguments(end), result=result)

    def arguments(self, end: int | None) -> list[Argument]:
        """Parse `[@name =] value [OUTPUT], …` up to token `end`."""
        found: list[Argument] = []
        end = len(self.tokens) if end is None else end
        while self.at < end:
            name = None
            if self.tokens[self.at].kind == "variable" and self.key(1) == "=":
                name = self.take().text.lower()
                self.at += 1
            if self.key() == "DEFAULT":
                self.at += 1
                found.append(Argument(name, None, output=False))
            elif self.key() == "WITH":
                self.at = end
                break
            else:
                text = self._expression()
                output = self.key() in {"OUTPUT", "OUT"}
                self.at += output
                found.append(Argument(name, text, output))
            if not self.skip(","):
                break
        if self.at < end:
            raise self.error()
        return found
