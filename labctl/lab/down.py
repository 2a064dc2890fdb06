"""Stopping a lab, and removing it."""

from __future__ import annotations

from dataclasses import replace

from labctl.config.model import ComposeProfile
from labctl.lab.lab import Lab
from labctl.runtimes.model import SilentSupervisorError

__all__ = ["destroy", "down"]


def down(lab: Lab) -> bool:
    """Stop every service in reverse order; data stays. False when nothing ran."""
    with lab.require_here().state.changing(existing=True):
        return _stop(lab)


def destroy(lab: Lab) -> None:
    """Stop the lab and delete its data, secrets and logs. Its lab.json may be damaged."""
    with lab.require_here().state.changing(existing=True):
        _stop(lab)
        for profile in _profiles(lab):
            replace(lab, profile=profile).runtime.remove()
        lab.state.remove()


def _profiles(lab: Lab) -> list[str]:
    """The profiles that may have left something outside the lab's folder.

    One that lab.toml no longer has cannot be asked. When lab.json does not say which the lab was
    started with, every one with containers is asked, if the lab has ever had any.
    """
    recorded = lab.state.load_if_readable()
    if recorded is not None:
        return [name for name in recorded.get("profiles", []) if name in lab.config.profiles]
    if not lab.state.compose_variables.exists():
        return []
    return [n for n, p in lab.config.profiles.items() if isinstance(p, ComposeProfile)]


def _stop(lab: Lab) -> bool:
    """Stop the services, each before those it needs; where nobody obeys, all at once."""
    try:
        was_running = lab.runtime.running()
        if was_running:
            for service in reversed(lab.services):
                lab.runtime.stop(service.name)
    except SilentSupervisorError:
        was_running = True
    lab.runtime.shutdown()
    return was_running
