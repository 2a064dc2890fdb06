"""Artefacts that the native runtime needs besides Python packages: locked, fetched, verified."""

from labctl.artifacts.progress import Progress, SilentProgress, Unit
from labctl.artifacts.store import ArtifactStatus, ArtifactStore, default_cache

__all__ = [
    "ArtifactStatus",
    "ArtifactStore",
    "Progress",
    "SilentProgress",
    "Unit",
    "default_cache",
]
