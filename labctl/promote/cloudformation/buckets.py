"""The buckets: private, encrypted, reached by TLS alone, and with what they held before."""

from __future__ import annotations

from labctl.promote.cloudformation.athena import results_rule
from labctl.promote.cloudformation.template import Json, Template, ref, tag_list
from labctl.promote.promotion import Promotion

__all__ = ["add_buckets"]

PARTS_DAYS = 7
"""For how long S3 keeps the parts of an upload that was never completed."""


def add_buckets(built: Template, promotion: Promotion) -> None:
    """The lake's bucket and that of the artifacts, where the profile has them made."""
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
        # CloudFormation deletes no bucket that holds something.
        keep="Retain",
    )
    arn = promotion.profile.arn("s3", bucket, global_=True)
    built.add(
        f"{name}Policy",
        "AWS::S3::BucketPolicy",
        {"Bucket": ref(name), "PolicyDocument": _tls_only(arn)},
        # A bucket that stays keeps its rule.
        keep="Retain",
    )


def _old_versions(promotion: Promotion) -> Json:
    """Return the rule for replaced and deleted files: S3 keeps them, and bills them, for days."""
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
