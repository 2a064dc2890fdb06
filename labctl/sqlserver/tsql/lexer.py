"""T-SQL tokens, sufficient to separate statements without knowing their grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass

from labctl.sqlserver.client_errors import SqlError, unsupported
from labctl.sqlserver.limits import MOST_TOKENS, too_complex

__all__ = ["Token", "tokenize", "unquote"]

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*)
      | (?P<comment>/\*)
      | (?P<string>N?'[^']*+(?:''[^']*+)*+')
      | (?P<quoted>\[(?:[^\]]++|\]\])*+\]|"(?:[^"]++|"")*+")
      | (?P<variable>@@?[\w@$\#]+)
      | (?P<number>0[xX][0-9A-Fa-f]*|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?)
      | (?P<word>[^\W\d][\w@$\#]*|(?:\#\#?|\$)[\w@$\#]+)
      | (?P<operator><>|!=|<=|>=|!<|!>|\+=|-=|\*=|/=|%=|&=|\|=|\^=|::|[-+*/%=<>!~^&|.,;:(){}\\$?])
    """,
    re.VERBOSE | re.DOTALL,
)
# Possessive (`*+`): otherwise the engine stores 60 bytes per repetition for backtracking.
_WORD = re.compile(r"\w")
_COMMENT_EDGE = re.compile(r"/\*|\*/")


@dataclass(frozen=True, slots=True)
class Token:
    """A token. `kind` is string, quoted, variable, number, word or operator. `key` is the
    upper-case text of words, variables and operators, and empty for the others."""

    kind: str
    text: str
    key: str
    start: int
    end: int
    line: int


def tokenize(text: str, *, most: int = MOST_TOKENS) -> list[Token]:
    """Return the tokens of a script, without white space and comments.

    Raises `SqlError` 105 for an unclosed quotation, 113 for an unclosed comment, 8623 for more than
    `most` tokens, and 102 for other errors.
    """
    if "\0" in text:
        raise unsupported("the character U+0000 in a script")
    tokens: list[Token] = []
    position, line = 0, 1
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise _broken(text, position)
        kind, end = match.lastgroup or "", match.end()
        if kind == "comment":
            end = _comment_end(text, end)
        elif kind != "space":
            piece = match.group()
            key = piece.upper() if kind in {"word", "operator", "variable"} else ""
            if piece[:2] in {"0x", "0X"} and _WORD.match(text, end):
                raise _broken(text, end)
            if len(tokens) >= most:
                raise too_complex()
            tokens.append(Token(kind, piece, key, position, end, line))
        line += text.count("\n", position, end)
        position = end
    return tokens


def _comment_end(text: str, position: int) -> int:
    depth = 1
    for edge in _COMMENT_EDGE.finditer(text, position):
        depth += 1 if edge.group() == "/*" else -1
        if depth == 0:
            return edge.end()
    raise SqlError(113, "Missing end comment mark '*/'.", severity=15)


def _broken(text: str, position: int) -> SqlError:
    rest = text[position : position + 30]
    if text[position] in "'\"[":
        return SqlError(
            105, f"Unclosed quotation mark after the character string '{rest[1:]}'.", severity=15
        )
    return SqlError(102, f"Incorrect syntax near '{rest[:1]}'.", severity=15)


def unquote(text: str) -> str:
    """Return a name or string literal without its quotes."""
    if text[:2] in {"N'", "n'"}:
        text = text[1:]
    if text[:1] == "[":
        return text[1:-1].replace("]]", "]")
    if text[:1] == '"':
        return text[1:-1].replace('""', '"')
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    return text
