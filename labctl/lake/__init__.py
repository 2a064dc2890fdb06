"""Reading the lakehouse: silver tables and bronze files."""

from __future__ import annotations

from labctl.lake.instants import parse_instant
from labctl.lake.lake import Lake, TableInfo
from labctl.lake.objectstore import LakeStorage
from labctl.lake.view import LATEST, View
from labctl.lake.watch import Watch

__all__ = ["LATEST", "Lake", "LakeStorage", "TableInfo", "View", "Watch", "parse_instant"]
