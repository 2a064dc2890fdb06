"""The lake API's image, which the person who applies the plan builds and pushes."""

from __future__ import annotations

from labctl.aws.session import Aws
from labctl.errors import ExitCode, LabError
from labctl.promote.api_image import image, image_tag
from labctl.promote.aws_names import Names
from labctl.promote.promotion import Promotion

__all__ = ["require_image"]


def require_image(aws: Aws, promotion: Promotion) -> None:
    """Raise LabError (NOT_READY) while the registry does not have the plan's image.

    ECS would try for hours to start tasks without it.
    """
    client = aws.client("ecr")
    try:
        client.describe_images(
            repositoryName=Names.of(promotion).api,
            imageIds=[{"imageTag": image_tag(promotion)}],
        )
    except (
        client.exceptions.ImageNotFoundException,
        client.exceptions.RepositoryNotFoundException,
    ):
        raise LabError(
            f"The lake API's image is not in the registry: {image(promotion)}",
            hint="build and push it as the plan's README says, and apply again",
            exit_code=ExitCode.NOT_READY,
        ) from None
