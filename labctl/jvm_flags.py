"""Compiler flags for JVMs that do not run long enough to profit from both JIT compilers."""

from __future__ import annotations

__all__ = ["FIRST_TIER"]

FIRST_TIER = ("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m")
"""Flags that switch off the optimising compiler, C2. C2 would take CPU from services that start at
the same time, for little gain. Without C2 the JVM reserves only 48 MB for compiled code. Spark
fills that within a minute, and the JVM would then compile nothing more. 240 MB is the default with
C2; the unused part takes no memory."""
