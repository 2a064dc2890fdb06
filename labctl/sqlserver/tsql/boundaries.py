"""Ends of T-SQL statements: a semicolon, or the word before the next statement begins."""

from __future__ import annotations

from collections.abc import Sequence

from labctl.sqlserver.tsql.lexer import Token

__all__ = ["STARTS", "statement_end"]

STARTS = frozenset(
    {
        "SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "CREATE", "ALTER", "DROP",
        "TRUNCATE", "DECLARE", "SET", "IF", "WHILE", "BEGIN", "END", "ELSE", "EXEC", "EXECUTE",
        "PRINT", "RAISERROR", "THROW", "RETURN", "BREAK", "CONTINUE", "COMMIT", "ROLLBACK", "SAVE",
        "USE", "GRANT", "REVOKE", "DENY", "OPEN", "FETCH", "CLOSE", "DEALLOCATE", "WAITFOR", "GOTO",
        "DBCC", "KILL", "CHECKPOINT",
    }
)  # fmt: skip
_MODULES = {"PROC", "PROCEDURE", "VIEW", "TRIGGER", "FUNCTION"}
_SET_OPERATORS = {"UNION", "ALL", "EXCEPT", "INTERSECT"}
_PERMISSIONS = {"GRANT", "REVOKE", "DENY"}


def statement_end(tokens: Sequence[Token], start: int, *, condition: bool = False) -> int:
    """Return the index after the last token of the statement that starts at `start`.

    With `condition`, the tokens from `start` are an expression (of IF, WHILE or EXEC's arguments),
    which ends before any word that begins a statement.
    """
    verb = "" if condition else tokens[start].key
    if verb in {"CREATE", "ALTER"} and _defines_module(tokens, start):
        return len(tokens)
    depth = cases = 0
    position = start if condition else start + 1
    while position < len(tokens):
        key = tokens[position].key
        if key == "(":
            depth += 1
        elif key == ")":
            depth -= 1
        elif depth == 0:
            if key == ";":
                return position
            if key == "CASE":
                cases += 1
            elif key == "END" and cases:
                cases -= 1
            elif key in STARTS and not cases and not _continues(tokens, start, position, verb, key):
                return position
        position += 1
    return position


def _defines_module(tokens: Sequence[Token], start: int) -> bool:
    words = [t.key for t in tokens[start + 1 : start + 4]]
    if words[:2] == ["OR", "ALTER"]:
        words = words[2:]
    return bool(words) and words[0] in _MODULES


def _continues(  # noqa: PLR0911 - one rule per word
    tokens: Sequence[Token], start: int, position: int, verb: str, key: str
) -> bool:
    """Return whether a word that could begin a statement belongs to the current one."""
    before = tokens[position - 1].key if position else ""
    after = tokens[position + 1].key if position + 1 < len(tokens) else ""
    if verb == "MERGE":
        return key in {"UPDATE", "DELETE", "INSERT", "SET", "WITH"}
    if verb in _PERMISSIONS:
        return "ON" not in {t.key for t in tokens[start:position]}
    if key == "SELECT":
        return _select_continues(tokens, start, position, verb, before)
    if key == "WITH":
        return not _begins_cte(tokens, position)
    if key == "SET":
        return before in {"DELETE", "UPDATE"} or _first_set(tokens, start, position, verb)
    if key in {"UPDATE", "DELETE", "INSERT", "MERGE"}:
        references = verb in {"CREATE", "ALTER"} and before == "ON"
        return references or _after_cte(tokens, start, position, verb)
    if key in {"DROP", "ALTER"}:
        return verb == "ALTER" and _only_name_between(tokens, start, position)
    if key == "IF":
        return verb in {"DROP", "CREATE", "ALTER"} and after in {"EXISTS", "NOT"} and before in {
            "TABLE", "VIEW", "PROCEDURE", "PROC", "SCHEMA", "DATABASE", "INDEX", "COLUMN",
            "CONSTRAINT", "FUNCTION", "TRIGGER", "SEQUENCE", "SYNONYM", "TYPE", "USER", "ROLE",
        }  # fmt: skip
    if key in {"EXEC", "EXECUTE"}:
        return verb == "INSERT" and not _has_source(tokens, start, position)
    if key == "FETCH":
        return before in {"ROWS", "ROW"}
    return key in {"SAVE", "USE"} and before == "("


def _select_continues(
    tokens: Sequence[Token], start: int, position: int, verb: str, before: str
) -> bool:
    if before in _SET_OPERATORS:
        return True
    if verb == "INSERT":
        return not _has_source(tokens, start, position)
    if verb == "WITH":
        return _after_cte(tokens, start, position, verb)
    return False


def _has_source(tokens: Sequence[Token], start: int, position: int) -> bool:
    """Return whether an INSERT already has its VALUES or SELECT (outside parentheses)."""
    depth = 0
    for token in tokens[start:position]:
        depth += {"(": 1, ")": -1}.get(token.key, 0)
        if depth == 0 and token.key in {"VALUES", "SELECT", "EXEC", "EXECUTE"}:
            return True
    return False


def _after_cte(tokens: Sequence[Token], start: int, position: int, verb: str) -> bool:
    """Return whether the word belongs to the statement that a WITH list introduces."""
    if verb != "WITH":
        return False
    depth = 0
    for token in tokens[start + 1 : position]:
        depth += {"(": 1, ")": -1}.get(token.key, 0)
        if depth == 0 and token.key in {"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE"}:
            insert = any(t.key == "INSERT" for t in tokens[start:position])
            return insert and not _has_source(tokens, start, position)
    return True


def _begins_cte(tokens: Sequence[Token], position: int) -> bool:
    """Return whether WITH begins a CTE, `name [(columns)] AS (`, not a table hint or an option."""
    name = tokens[position + 1] if position + 1 < len(tokens) else None
    if name is None or name.kind not in {"word", "quoted"}:
        return False
    at = position + 2
    if at < len(tokens) and tokens[at].key == "(":
        while at < len(tokens) and tokens[at].key != ")":
            at += 1
        at += 1
    return at + 1 < len(tokens) and tokens[at].key == "AS" and tokens[at + 1].key == "("


def _first_set(tokens: Sequence[Token], start: int, position: int, verb: str) -> bool:
    if verb not in {"UPDATE", "WITH", "ALTER"}:
        return False
    words = [t.key for t in tokens[start:position]]
    if verb == "WITH" and "UPDATE" not in words:
        return False
    return "SET" not in words


def _only_name_between(tokens: Sequence[Token], start: int, position: int) -> bool:
    """Return whether only a name, as in `ALTER TABLE name`, precedes DROP or ALTER."""
    between = tokens[start + 2 : position]
    return bool(between) and all(
        (t.kind in {"word", "quoted"} and t.key not in {"DROP", "ADD", "ALTER", "SET", "WITH"})
        or t.key == "."
        for t in between
    )
