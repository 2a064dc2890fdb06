"""Sources of tables that work without a lab."""

from sqlapi.sources.memory import MemorySource

__all__ = ["MemorySource"]
