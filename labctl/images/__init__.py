"""Images built without any image hub: Debian by debootstrap, the lock's artefacts on top."""

from labctl.images.build import (
    ImageStatus,
    build,
    is_local,
    references,
    source_digest,
    statuses,
)

__all__ = ["ImageStatus", "build", "is_local", "references", "source_digest", "statuses"]
