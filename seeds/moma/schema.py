"""The two MoMA tables, declared once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from seeds.table_declarations import Table, columns

__all__ = ["TABLES"]

_ALL = (
    Table(
        name="artists",
        engine="postgres",
        database="moma",
        schema="public",
        rows=15_089,
        scales=True,
        file="moma_public_artists.txt",
        smaller_file="moma_public_artists_small.txt",
        columns=columns(
            "artist_id integer!",
            "name text",
            "nationality text",
            "gender text",
            "birth_year integer",
            "death_year integer",
        ),
    ),
    Table(
        name="artworks",
        engine="postgres",
        database="moma",
        schema="public",
        # The original has between 120,000 and 140,000.
        rows=120_000,
        scales=True,
        file="moma_public_artworks.txt",
        smaller_file="moma_public_artworks_small.txt",
        columns=columns(
            "artwork_id integer!",
            "title text",
            "artist_id integer!",
            "name text",
            "date integer",
            "medium text",
            "dimensions text",
            "acquisition_date text",
            "credit text",
            "catalogue text",
            "department text",
            "classification text",
            "object_number text",
            "diameter_cm text",
            "circumference_cm text",
            "height_cm text",
            "length_cm text",
            "width_cm text",
            "depth_cm text",
            "weight_kg text",
            "durations integer",
        ),
    ),
)

TABLES: Mapping[str, Table] = MappingProxyType({t.name: t for t in _ALL})
"""Both tables by name; artworks refer to artists."""
