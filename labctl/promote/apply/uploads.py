"""The artifacts bucket. A key identifies its content, so an existing file is not sent again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from labctl.aws.session import Aws, Tell
from labctl.errors import ExitCode, LabError
from labctl.promote.artifacts import Upload
from labctl.promote.aws_names import CREATOR_TAG, Names

__all__ = ["empty_bucket", "missing_uploads", "owned_bucket", "upload"]

_MIB = 1024 * 1024


def missing_uploads(aws: Aws, bucket: str, uploads: Iterable[Upload]) -> list[Upload]:
    """Return the uploads that the bucket lacks or has with another size; all without a bucket."""
    from botocore.exceptions import ClientError

    client = aws.client("s3")
    wanted = list(uploads)
    found: list[Upload] = []
    for one in wanted:
        try:
            size = client.head_object(Bucket=bucket, Key=one.key)["ContentLength"]
        except ClientError as error:
            if error.response["Error"]["Code"] not in ("404", "NoSuchKey", "NoSuchBucket"):
                raise
            found.append(one)
        else:
            if size != _size(one):
                found.append(one)
    return found


def upload(aws: Aws, bucket: str, uploads: Iterable[Upload], tell: Tell) -> None:
    """Upload the files; large ones in parts."""
    client = aws.client("s3")
    for one in uploads:
        tell(f"s3://{bucket}/{one.key} ({max(1, _size(one) // _MIB)} MiB)")
        if isinstance(one.content, Path):
            client.upload_file(str(one.content), bucket, one.key)
        else:
            client.put_object(Bucket=bucket, Key=one.key, Body=one.content)


def owned_bucket(aws: Aws, names: Names, bucket: str) -> bool:
    """Return whether the bucket exists with the creator's tag.

    Raises LabError (USAGE) if it exists without that tag.
    """
    from botocore.exceptions import ClientError

    try:
        tags = aws.client("s3").get_bucket_tagging(Bucket=bucket)["TagSet"]
    except ClientError as error:
        code = error.response["Error"]["Code"]
        if code == "NoSuchBucket":
            return False
        if code != "NoSuchTagSet":
            raise
        tags = []
    if {tag["Key"]: tag["Value"] for tag in tags}.get(CREATOR_TAG) == names.creator:
        return True
    raise LabError(
        f"The bucket {bucket} was not made by labctl for {names.creator}",
        hint="it is left as it is",
        exit_code=ExitCode.USAGE,
    )


def empty_bucket(aws: Aws, bucket: str, tell: Tell) -> None:
    """Delete every object of a bucket in all its versions, then the bucket."""
    client: Any = aws.client("s3")
    removed = 0
    for page in client.get_paginator("list_object_versions").paginate(Bucket=bucket):
        versions = [
            {"Key": one["Key"], "VersionId": one["VersionId"]}
            for one in [*page.get("Versions", []), *page.get("DeleteMarkers", [])]
        ]
        if versions:
            client.delete_objects(Bucket=bucket, Delete={"Objects": versions, "Quiet": True})
            removed += len(versions)
    client.delete_bucket(Bucket=bucket)
    tell(f"s3://{bucket} is gone, with {removed} versions of objects")


def _size(one: Upload) -> int:
    """Return the size in bytes."""
    return one.content.stat().st_size if isinstance(one.content, Path) else len(one.content)
