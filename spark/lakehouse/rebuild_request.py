"""What is kept in the lake of a request to rebuild a table, until it is fulfilled or withdrawn.

Nothing in this module needs Spark: whoever asks for a rebuild reads the answer by it.
"""

from __future__ import annotations

import json

__all__ = ["ASKED", "refusal", "refused"]

ASKED = b""
"""The object's content while a table is to be rebuilt. The object goes when it has been."""


def refused(reason: str) -> bytes:
    """The content once the application has turned the request down."""
    return json.dumps({"refused": reason}, indent=2).encode()


def refusal(content: bytes) -> str | None:
    """Why the request was turned down; None while it stands."""
    return None if content == ASKED else str(json.loads(content)["refused"])
