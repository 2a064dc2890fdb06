"""The SQL that the stand-in installs: what may change in the same version, and what may not."""

from __future__ import annotations

import hashlib

from labctl.sqlserver.backend import install

FOUNDATION = {4: "ab60a053df5cb4c36b2dbf81da658c0b5ca5636a491aa4505b7fc4a079e2df6a"}
"""Types and tables by version, as a digest of their text."""


def test_types_and_tables_change_with_the_version() -> None:
    """Databases hold data in them: increase `FOUNDATION_VERSION`, then change the digest here."""
    text = "".join(install._text(part) for part in sorted(install._FOUNDATION))
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert {install.FOUNDATION_VERSION: digest} == FOUNDATION


def test_everything_else_can_be_replaced() -> None:
    """The other files run again over an installation when one of them has changed."""
    text = install._replacing(install._definitions())
    lines = [line for line in text.splitlines() if line.startswith("CREATE ")]
    allowed = ("CREATE OR REPLACE ", "CREATE SCHEMA IF NOT EXISTS ")
    assert [line for line in lines if not line.startswith(allowed)] == []
