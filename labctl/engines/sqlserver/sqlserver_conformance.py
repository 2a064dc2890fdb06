"""How `labctl conformance` writes and reads SQL Server's tables."""

from __future__ import annotations

from labctl.conformance.traits import Traits
from labctl.engines.sqlserver.sqlserver_column_types import SQLSERVER

__all__ = ["TRAITS"]


def _read_as_text(form: str | None, name: str) -> str:
    # The client's own times have six digits; a CONVERT style gives three in the stand-in.
    return f"CONVERT(varchar(40), {name})" if form == "nanoseconds" else name


TRAITS = Traits(
    column_types=SQLSERVER,
    quotes=("[", "]"),
    # In bytes, of the stand-in; SQL Server itself takes 128 characters.
    longest_name=63,
    # A capture instance has the columns of its beginning.
    changes_columns=False,
    add_column="ADD",
    read_as_text=_read_as_text,
    drop_database="DROP DATABASE {name}",
    other_database="master",
)
