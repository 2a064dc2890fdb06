"""Changes of rights, which PostgreSQL refuses while another session changes the same ones."""

from __future__ import annotations

from collections.abc import Callable

from tenacity import Retrying, retry_if_exception_message, stop_after_delay, wait_random

__all__ = ["repeated"]

_MET = r"(?s).*tuple concurrently (updated|deleted)"
"""PostgreSQL's error for a change that met another one: unlike with rows, it does not wait."""
_SECONDS = 30.0


def repeated(change: Callable[[], object]) -> None:
    """Make a change, and make it again for as long as it meets those of others.

    The change must have the same result if a part of it was made before. Raises its last error.
    """
    for attempt in Retrying(
        retry=retry_if_exception_message(match=_MET),
        stop=stop_after_delay(_SECONDS),
        wait=wait_random(0.01, 0.1),
        reraise=True,
    ):
        with attempt:
            change()
