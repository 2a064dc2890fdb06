"""What a silver table is called: `database.table`, or by its short name while that is unique."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["AmbiguousTableError", "find_table", "quoted", "tables_called"]


class AmbiguousTableError(LookupError):
    """Several tables have the short name."""

    def __init__(self, name: str, tables: Sequence[str]) -> None:
        super().__init__(f"{name} is the name of {' and '.join(tables)}")
        self.tables = tables


def tables_called(name: str, tables: Iterable[str]) -> list[str]:
    """Those of `tables`, full names, that `name` means: itself, or all with that short name."""
    found = sorted(tables)
    if name in found:
        return [name]
    return [table for table in found if table.rpartition(".")[2] == name]


def find_table(name: str, tables: Iterable[str]) -> str | None:
    """The one of `tables`, full names, that `name` means; None when there is none.

    Raises AmbiguousTableError when it may be any of several.
    """
    found = tables_called(name, tables)
    if len(found) > 1:
        raise AmbiguousTableError(name, found)
    return found[0] if found else None


def quoted(name: str) -> str:
    """A full name as DuckDB's SQL takes it, whatever its parts are: `"tickit"."user"`."""
    return ".".join(f'"{part}"' for part in name.split("."))
