"""The MoMA sample data set: a museum's artists and artworks, in one PostgreSQL database.

`DATA_SET` is what `labctl seed moma` loads; `generate(scale)` gives the rows themselves. They are
invented: what they have of the original is its counts, types, gaps and unevenness.
"""

from __future__ import annotations

from importlib import resources

from labctl.datasets.data_set import DataSet, FollowedRow, TextColumn
from seeds.moma.generate import FIRST_ID, generate, row_counts
from seeds.moma.original import read_original
from seeds.moma.schema import TABLES

__all__ = ["DATA_SET", "TABLES", "ddl", "generate", "row_counts"]


def ddl(engine: str) -> str:
    """Return the DDL script of an engine; there is one for `postgres` alone."""
    return resources.files("seeds.moma").joinpath(f"{engine}.sql").read_text(encoding="utf-8")


DATA_SET = DataSet(
    name="moma",
    title="a museum's collection: 15,089 artists and 120,000 artworks in a PostgreSQL database",
    tables=tuple(TABLES.values()),
    ddl=ddl,
    generate=generate,
    read=read_original,
    written=("artworks",),
    followed=FollowedRow(
        table="artists",
        key="artist_id",
        value=FIRST_ID,
        column="nationality",
        next=lambda nationality: "French" if nationality == "American" else "American",
    ),
    text_columns={"postgres": TextColumn("artists", "artist_id", FIRST_ID, "name")},
)
