"""The request to rebuild a table, kept in the lake until it is fulfilled or withdrawn.

Nothing in this module needs Spark, so that whoever asks for a rebuild can read the answer.
"""

from __future__ import annotations

import json

__all__ = ["ASKED", "refusal", "refused"]

ASKED = b""
"""Content of the object while a table is to be rebuilt. The object is deleted afterwards."""


def refused(reason: str) -> bytes:
    """Return the content for a request that the application has refused."""
    return json.dumps({"refused": reason}, indent=2).encode()


def refusal(content: bytes) -> str | None:
    """Return why the request was refused; None while it stands."""
    return None if content == ASKED else str(json.loads(content)["refused"])
