"""Labs of tests take in little, and are started often."""

from __future__ import annotations

from labctl.config.services import ServiceSettings

__all__ = ["SETTINGS", "TOML"]

SETTINGS = dict.fromkeys(("connect", "silver", "thriftserver"), ServiceSettings(quick_start=True))
"""`services` of such a lab."""

TOML = "".join(f"\n[services.{name}]\nquick_start = true\n" for name in SETTINGS)
"""The same, to be appended to a lab.toml."""
