"""Stopping a lab, and removing it."""

from __future__ import annotations

from dataclasses import replace

from labctl.lab.lab import Lab

__all__ = ["destroy", "down"]


def down(lab: Lab) -> bool:
    """Stop every service in reverse order; data stays. False when nothing ran."""
    lab.require_here().state.require()
    with lab.state.changing():
        return _stop(lab)


def destroy(lab: Lab) -> None:
    """Stop the lab and delete its data, secrets and logs."""
    lab.require_here().state.require()
    with lab.state.changing():
        _stop(lab)
        for profile in lab.state.load().get("profiles", []):
            # One that lab.toml no longer has cannot be asked.
            if profile in lab.config.profiles:
                replace(lab, profile=profile).runtime.remove()
        lab.state.remove()


def _stop(lab: Lab) -> bool:
    was_running = lab.runtime.running()
    if was_running:
        for service in reversed(lab.services):
            lab.runtime.stop(service.name)
    lab.runtime.shutdown()
    return was_running
