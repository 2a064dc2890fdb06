"""Images built without any image hub: Debian by debootstrap, the lock's artefacts on top."""

from labctl.images.build import (
    ImageStatus,
    build,
    recipe_of,
    references,
    source_digest,
    statuses,
)

__all__ = ["ImageStatus", "build", "recipe_of", "references", "source_digest", "statuses"]
