"""The names of the seven tables."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, StringConstraints

__all__ = ["Name", "Tables"]

Name = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""Name of a table or database. It is written into SQL, so it must be a plain identifier."""


class Tables(BaseModel):
    """Their names in the catalog. Needs pydantic alone, for those who only start the service."""

    model_config = ConfigDict(frozen=True)

    category: Name = "refined_tickit_public_category"
    date: Name = "refined_tickit_public_date"
    event: Name = "refined_tickit_public_event"
    listing: Name = "refined_tickit_public_listing"
    sale: Name = "refined_tickit_public_sales"
    user: Name = "refined_tickit_public_users"
    venue: Name = "refined_tickit_public_venue"
