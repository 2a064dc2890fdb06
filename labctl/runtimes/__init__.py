"""Runtimes of services: processes of this user, containers, or managed services."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.config.lab_config import ComposeProfile, LabConfig
from labctl.runtimes.runtime_protocols import Runtime
from labctl.state.lab_state import LabState

__all__ = ["Runtime", "open_runtime"]


def open_runtime(
    project: Path,
    config: LabConfig,
    profile: str,
    state: LabState,
    artifacts: ArtifactStore,
    ports: Mapping[str, Mapping[str, int]],
    passwords: Mapping[str, str],
) -> Runtime:
    """Return the runtime of `profile`, which must run on this machine."""
    if isinstance(chosen := config.profiles[profile], ComposeProfile):
        from labctl.runtimes.compose.compose_runtime import ComposeRuntime

        return ComposeRuntime(project, config, chosen, state, ports, passwords)
    from labctl.runtimes.native.native_runtime import NativeRuntime

    return NativeRuntime(config, state, artifacts, ports, passwords)
