"""What sections of `lab.toml` share: they are frozen, without keys nobody knows, name engines."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

__all__ = ["Section", "SourceEngine"]

SourceEngine = Literal["postgres", "mysql", "sqlserver"]


class Section(BaseModel):
    """A table of `lab.toml`."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True, defer_build=True)
