"""Every column type that each engine can declare, with values chosen by hand."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from labctl.config.model import SourceEngine
from labctl.conformance.kinds.mysql import MYSQL
from labctl.conformance.kinds.postgres import POSTGRES
from labctl.conformance.kinds.sqlserver import SQLSERVER
from labctl.conformance.model import Kind

__all__ = ["KINDS"]

KINDS: Mapping[SourceEngine, tuple[Kind, ...]] = MappingProxyType(
    {"postgres": POSTGRES, "mysql": MYSQL, "sqlserver": SQLSERVER}
)
"""Column types by engine."""
