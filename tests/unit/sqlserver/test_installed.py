"""The SQL that the stand-in installs: what may change without a migration, and what may not."""

from __future__ import annotations

import hashlib

from labctl.sqlserver.backend import install

FOUNDATION = {4: "5677a2266d554392b5555bcd35bb2c3bc09c15142dce304fbb9a0f7654d40eb6"}
"""Types and tables by version, as a digest of their text."""


def test_types_and_tables_change_with_a_migration() -> None:
    """Databases hold data in them: add `catalog/migrations/<next number>.sql`, then the digest."""
    text = "".join(install._text(part) for part in sorted(install._FOUNDATION))
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert {max(install._migrations()): digest} == FOUNDATION


def test_everything_else_can_be_replaced() -> None:
    """An upgrade runs the other files again, over what an earlier version installed."""
    text = install._replacing(install._definitions())
    lines = [line for line in text.splitlines() if line.startswith("CREATE ")]
    allowed = ("CREATE OR REPLACE ", "CREATE SCHEMA IF NOT EXISTS ")
    assert [line for line in lines if not line.startswith(allowed)] == []
