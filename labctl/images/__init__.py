"""Images built without any image hub: Debian by debootstrap, the lock's artefacts on top."""

from labctl.images.build import ImageStatus, build, references, statuses

__all__ = ["ImageStatus", "build", "references", "statuses"]
