"""What every section of `lab.toml` is: frozen, and without keys nobody knows."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["Section"]


class Section(BaseModel):
    """A table of `lab.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)
