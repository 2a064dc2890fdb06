"""Readable reasons for the failed probe of a service."""

from __future__ import annotations

from urllib.parse import urlsplit

__all__ = ["why_unusable"]


def why_unusable(error: Exception) -> str:
    """Return a probe's error on one line, without the internals of a client library."""
    lines = str(error).strip().splitlines() or [""]
    if type(error) is ConnectionError:  # a probe's own words
        return lines[0]
    request = getattr(error, "request", None)
    if request is not None and getattr(error, "response", None) is None:
        return f"nothing answers at {urlsplit(request.url).netloc}"
    return f"{type(error).__name__}: {lines[0]}"
