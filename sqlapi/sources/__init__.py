"""Table sources that need no lab."""

from sqlapi.sources.memory import MemorySource

__all__ = ["MemorySource"]
