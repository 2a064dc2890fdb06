"""The tables that a view of the catalog reads: an answer from the view is as new as they are."""

from __future__ import annotations

import base64
import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from lakeapi.problems import LakeUnavailableError

if TYPE_CHECKING:
    from mypy_boto3_glue.type_defs import TableTypeDef

__all__ = ["Ref", "tables_of_view"]

_TEXT = re.compile(r"\s*/\* Presto View: (\S+) \*/\s*")
"""Form in which Athena and Presto store a view in the catalog: JSON in Base64."""


class Ref(NamedTuple):
    """A table or view of the catalog."""

    database: str
    name: str


def tables_of_view(definition: TableTypeDef) -> tuple[Ref, ...]:
    """Return the tables and views that a view's statement names; none for a table.

    Raises LakeUnavailableError for a view that cannot be parsed, since its age is not known.
    """
    if definition.get("TableType") != "VIRTUAL_VIEW":
        return ()
    try:
        return _named(definition.get("ViewOriginalText", ""))
    except ValueError as error:
        name = definition["Name"]
        raise LakeUnavailableError(f"what the view {name} reads is not known: {error}") from error


@lru_cache
def _named(text: str) -> tuple[Ref, ...]:
    """Parse a view's text; it is cached, since few views are read often. Raises ValueError."""
    # Imported here, since a service without views needs no parser.
    from sqlglot import exp, parse_one
    from sqlglot.errors import SqlglotError
    from sqlglot.optimizer.scope import traverse_scope

    found = _TEXT.fullmatch(text)
    if not found:
        raise ValueError("it is no Presto view")
    told = json.loads(base64.b64decode(found[1]))
    try:
        scopes = traverse_scope(parse_one(told["originalSql"], dialect="athena"))
        sources = [source for scope in scopes for source in scope.sources.values()]
        tables = [source for source in sources if isinstance(source, exp.Table)]
        refs = {Ref((one.db or told["schema"]).lower(), one.name.lower()) for one in tables}
    except (SqlglotError, KeyError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from error
    return tuple(sorted(refs))
