"""Signature of a snapshot's manifest, with a key that never leaves this user's home.

A snapshot can run code: a database's data folder has its settings and functions, and Kafka's has
the connectors. Therefore a snapshot of someone else is not restored unless the user declares it
trusted.
"""

from __future__ import annotations

import hmac
import os
import secrets
from pathlib import Path

from labctl.state.lab_state import state_home, write_private

__all__ = ["is_signed", "sign"]

_SUFFIX = ".hmac"
_KEY = ".snapshot-key"
"""Key file beside the labs and the snapshots, so that a copy of either does not have it."""
_KEY_BYTES = 32


def sign(manifest: Path) -> None:
    """Write the signature of a manifest beside it. Make the key if there is none."""
    if _key() is None:
        _make_key()
    write_private(manifest.with_suffix(_SUFFIX), _signature(manifest))


def is_signed(manifest: Path) -> bool:
    """Return whether a manifest has its signature beside it, made with this user's key."""
    try:
        said = manifest.with_suffix(_SUFFIX).read_bytes()
    except OSError:
        return False
    return _key() is not None and hmac.compare_digest(said, _signature(manifest).encode())


def _make_key() -> None:
    """Make a key, or keep the one that another command makes at the same time."""
    path = state_home() / _KEY
    staged = path.with_name(f"{_KEY}.{os.getpid()}")
    write_private(staged, secrets.token_hex(_KEY_BYTES))
    try:
        os.link(staged, path)
    except FileExistsError:
        if _key() is None:  # damaged: what it signed needs to be trusted again
            staged.replace(path)
    finally:
        staged.unlink(missing_ok=True)


def _key() -> bytes | None:
    try:
        return bytes.fromhex((state_home() / _KEY).read_text(encoding="ascii")) or None
    except (OSError, ValueError):
        return None


def _signature(manifest: Path) -> str:
    return hmac.digest(_key() or b"", manifest.read_bytes(), "sha256").hex()
