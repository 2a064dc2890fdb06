"""Why a service's probe failed, in words for people."""

from __future__ import annotations

from urllib.parse import urlsplit

__all__ = ["why_unusable"]


def why_unusable(error: Exception) -> str:
    """What a probe's error says, on one line and without what a client's library is made of."""
    lines = str(error).strip().splitlines() or [""]
    if type(error) is ConnectionError:  # a probe's own words
        return lines[0]
    request = getattr(error, "request", None)
    if request is not None and getattr(error, "response", None) is None:
        return f"nothing answers at {urlsplit(request.url).netloc}"
    return f"{type(error).__name__}: {lines[0]}"
