"""Artefacts that the native runtime needs besides Python packages: locked, fetched, verified."""

from labctl.artifacts.artifact_store import ArtifactStatus, ArtifactStore, default_cache
from labctl.artifacts.fetch_progress import Progress, SilentProgress, Unit

__all__ = [
    "ArtifactStatus",
    "ArtifactStore",
    "Progress",
    "SilentProgress",
    "Unit",
    "default_cache",
]
