"""The names of a silver table: `database.table`, and the short name while that is unique."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["AmbiguousTableError", "find_table", "quoted", "tables_called"]


class AmbiguousTableError(LookupError):
    """Several tables have the short name."""

    def __init__(self, name: str, tables: Sequence[str]) -> None:
        super().__init__(f"{name} is the name of {' and '.join(tables)}")
        self.tables = tables


def tables_called(name: str, tables: Iterable[str]) -> list[str]:
    """Return the full names in `tables` that `name` means: itself, or all with that short name."""
    found = sorted(tables)
    if name in found:
        return [name]
    return [table for table in found if table.rpartition(".")[2] == name]


def find_table(name: str, tables: Iterable[str]) -> str | None:
    """Return the full name in `tables` that `name` means; None when there is none.

    Raises AmbiguousTableError when it may mean any of several.
    """
    found = tables_called(name, tables)
    if len(found) > 1:
        raise AmbiguousTableError(name, found)
    return found[0] if found else None


def quoted(name: str) -> str:
    """Return a full name in the form of DuckDB's SQL, for any parts: `"tickit"."user"`."""
    return ".".join(f'"{part}"' for part in name.split("."))
