"""Images built without an image hub: Debian from debootstrap, plus the lock's artefacts."""

from labctl.images.build import (
    ImageStatus,
    build,
    image_work,
    recipe_of,
    references,
    statuses,
)
from labctl.images.sources import source_digest, sources

__all__ = [
    "ImageStatus",
    "build",
    "image_work",
    "recipe_of",
    "references",
    "source_digest",
    "sources",
    "statuses",
]
