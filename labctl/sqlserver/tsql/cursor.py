"""A cursor over the tokens of a DDL statement."""

from __future__ import annotations

from psycopg.sql import SQL, Composed

from labctl.sqlserver.client_errors import SqlError
from labctl.sqlserver.tsql.lexer import Token, tokenize, unquote
from labctl.sqlserver.tsql.object_names import identifier

__all__ = ["Cursor"]


class Cursor:
    """The tokens of one statement and a position in them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokenize(text)
        self.at = 0

    def key(self, ahead: int = 0) -> str:
        position = self.at + ahead
        return self.tokens[position].key if position < len(self.tokens) else ""

    def error(self) -> SqlError:
        last = self.tokens[min(self.at, len(self.tokens) - 1)].text if self.tokens else ""
        return SqlError(102, f"Incorrect syntax near '{last}'.", severity=15)

    def take(self) -> Token:
        if self.at >= len(self.tokens):
            raise self.error()
        self.at += 1
        return self.tokens[self.at - 1]

    def skip(self, *keys: str) -> bool:
        """Skip these words if they come next; return whether they did."""
        if any(self.key(n) != key for n, key in enumerate(keys)):
            return False
        self.at += len(keys)
        return True

    def expect(self, *keys: str) -> None:
        if not self.skip(*keys):
            raise self.error()

    def finish(self) -> None:
        self.skip(";")
        if self.at < len(self.tokens):
            raise self.error()

    def name(self) -> str:
        token = self.take()
        if token.kind not in {"word", "quoted"}:
            self.at -= 1
            raise self.error()
        return unquote(token.text)

    def dotted(self) -> str:
        """Take a name of several parts and return it as written."""
        start = self.at
        self.take()
        while self.key() == "." or (self.at > start and self.tokens[self.at - 1].key == "."):
            self.take()
        return self.slice(start, self.at)

    def slice(self, start: int, end: int) -> str:
        if start >= end:
            return ""
        return self.text[self.tokens[start].start : self.tokens[end - 1].end]

    def parenthesized(self) -> str:
        """Take the parentheses that come next and return the text between them."""
        self.expect("(")
        start, depth = self.at, 1
        while depth:
            depth += {"(": 1, ")": -1}.get(self.take().key, 0)
        return self.slice(start, self.at - 1)

    def until(self, keys: set[str]) -> str:
        """Take the text up to one of `keys`, a comma or the end, outside parentheses."""
        start, depth = self.at, 0
        while self.at < len(self.tokens):
            key = self.key()
            if depth == 0 and (key in keys or key in {",", ")", ";"}):
                break
            depth += {"(": 1, ")": -1}.get(key, 0)
            self.at += 1
        return self.slice(start, self.at)

    def column_list(self, *, orders: bool = False) -> Composed:
        """Translate `(a, b DESC)`; with `orders`, NULLs sort low, as in SQL Server."""
        self.expect("(")
        items = []
        while True:
            name = identifier(self.name().lower())
            direction = SQL("")
            if self.skip("DESC"):
                direction = SQL(" DESC NULLS LAST") if orders else direction
            elif self.skip("ASC") or orders:
                direction = SQL(" ASC NULLS FIRST") if orders else direction
            items.append(name + direction)
            if not self.skip(","):
                break
        self.expect(")")
        return SQL("({})").format(SQL(", ").join(items))
