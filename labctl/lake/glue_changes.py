"""Changes to write to a Glue catalog or to Athena, and the function that writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from labctl.errors import LabError

__all__ = ["Change", "Json", "new_database", "tables_in", "type_changes", "write"]

Json = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """A request that brings a catalog closer to the lake; `refused` says why it is not sent."""

    action: str
    """`create`, `update` or `remove`."""
    what: str
    """The changed object: `database shop`, `table shop.sale_ro`, `named query shop.likes`."""
    details: tuple[str, ...]
    operation: str = field(repr=False)
    request: Json = field(repr=False)
    refused: str = ""


def new_database(name: str, **more: str) -> Change:
    """Return the change that creates a database."""
    given = {"DatabaseInput": {"Name": name, **more}}
    return Change("create", f"database {name}", (), "create_database", given)


def tables_in(glue: Any, database: str) -> dict[str, Json] | None:
    """Return the tables and views of a database from a boto3 client of Glue, by name.

    Return None if there is no such database.
    """
    pages = glue.get_paginator("get_tables").paginate(DatabaseName=database)
    try:
        return {table["Name"]: table for page in pages for table in page["TableList"]}
    except glue.exceptions.EntityNotFoundException:
        return None


def type_changes(word: str, wanted: Mapping[str, str], found: Mapping[str, str]) -> Iterator[str]:
    """Yield each column whose type differs, as `word name: is → should be`."""
    for name in {**wanted, **found}:
        if wanted.get(name) != found.get(name):
            yield f"{word} {name}: {found.get(name, 'none')} → {wanted.get(name, 'none')}"


def write(client: Any, changes: Sequence[Change]) -> None:
    """Send the changes, in order, through a boto3 client of their service.

    Raise LabError before sending any if one is refused, and if Glue reports an error.
    """
    if refused := [change for change in changes if change.refused]:
        raise LabError(
            "Nothing was written: " + "; ".join(change.refused for change in refused),
            hint="drop it from the catalog, or use another database or name",
        )
    for change in changes:
        answer = getattr(client, change.operation)(**change.request)
        if errors := answer.get("Errors"):
            told = errors[0]["ErrorDetail"]
            raise LabError(
                f"Glue did not {change.action} {len(errors)} {change.what}: "
                f"{told.get('ErrorCode')}: {told.get('ErrorMessage')}"
            )
