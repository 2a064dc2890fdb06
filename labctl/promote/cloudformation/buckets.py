"""The buckets: private, encrypted, versioned, and accessible only over TLS."""

from __future__ import annotations

from labctl.promote.cloudformation.athena_stack import results_rule
from labctl.promote.cloudformation.template import Json, Template, ref, tag_list
from labctl.promote.promotion import Promotion

__all__ = ["add_buckets"]

PARTS_DAYS = 7
"""Days for which S3 keeps the parts of an incomplete upload."""


def add_buckets(built: Template, promotion: Promotion) -> None:
    """Add the lake's and the artifacts' buckets, if the profile says to create them."""
    lake = promotion.profile.lake
    if not lake.create:
        return
    _add_bucket(built, promotion, "LakeBucket", lake.bucket, [results_rule(promotion)])
    _add_bucket(built, promotion, "ArtifactsBucket", lake.artifacts, [])


def _add_bucket(
    built: Template, promotion: Promotion, name: str, bucket: str, rules: list[Json]
) -> None:
    built.add(
        name,
        "AWS::S3::Bucket",
        {
            "BucketName": bucket,
            "BucketEncryption": {
                "ServerSideEncryptionConfiguration": [
                    {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
                ]
            },
            "PublicAccessBlockConfiguration": {
                "BlockPublicAcls": True,
                "BlockPublicPolicy": True,
                "IgnorePublicAcls": True,
                "RestrictPublicBuckets": True,
            },
            "VersioningConfiguration": {"Status": "Enabled"},
            "LifecycleConfiguration": {"Rules": [*rules, _old_versions(promotion)]},
            "Tags": tag_list(promotion),
        },
        # CloudFormation cannot delete a bucket that is not empty.
        keep="Retain",
    )
    arn = promotion.profile.arn("s3", bucket, global_=True)
    built.add(
        f"{name}Policy",
        "AWS::S3::BucketPolicy",
        {"Bucket": ref(name), "PolicyDocument": _tls_only(arn)},
        # A retained bucket keeps its policy.
        keep="Retain",
    )


def _old_versions(promotion: Promotion) -> Json:
    """Return the rule that keeps (and bills) replaced and deleted files for `version_days`."""
    return {
        "Id": "old-versions",
        "Status": "Enabled",
        "NoncurrentVersionExpiration": {"NoncurrentDays": promotion.profile.lake.version_days},
        "ExpiredObjectDeleteMarker": True,
        "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": PARTS_DAYS},
    }


def _tls_only(arn: str) -> Json:
    statement: Json = {
        "Sid": "TlsOnly",
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": [arn, f"{arn}/*"],
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    return {"Version": "2012-10-17", "Statement": [statement]}
