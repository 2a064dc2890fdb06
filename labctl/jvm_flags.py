"""How a JVM compiles that does not run long enough for both of its compilers."""

from __future__ import annotations

__all__ = ["FIRST_TIER"]

FIRST_TIER = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m")
"""The optimising compiler, C2, would take the cores from what starts beside it, for little. Without
it the JVM has room for 48 MB of compiled code, which Spark fills within a minute: nothing would be
compiled from then on. 240 MB is what it has with C2; what is not used takes no memory."""
