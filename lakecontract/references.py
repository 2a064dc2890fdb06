"""References to secrets in connector files: `${secretManager:<secret>:<key>}`."""

from __future__ import annotations

import re

__all__ = ["REFERENCE", "reference"]

REFERENCE = re.compile(r"\$\{secretManager:([^:}]+):([^}]+)\}")


def reference(secret: str, key: str) -> str:
    """Return a connector file's reference to a key of a secret."""
    return f"${{secretManager:{secret}:{key}}}"
