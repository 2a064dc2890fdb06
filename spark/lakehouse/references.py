"""References to secrets in connector files: `${secretManager:<secret>:<key>}`."""

from __future__ import annotations

import re

__all__ = ["REFERENCE", "reference"]

REFERENCE = re.compile(r"\$\{secretManager:([^:}]+):([^}]+)\}")


def reference(secret: str, key: str) -> str:
    """How a connector file refers to a key of a secret."""
    return f"${{secretManager:{secret}:{key}}}"
