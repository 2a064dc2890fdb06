"""Images built without any image hub: Debian by debootstrap, the lock's artefacts on top."""

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
