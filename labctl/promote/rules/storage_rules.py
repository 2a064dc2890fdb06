"""Rules for buckets and databases: private, encrypted, and protected from one mistake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from labctl.promote.rules.rule import Finding, Subject, rule

__all__: list[str] = []

_PRIVATE = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")


def _of(subject: Subject, type_: str) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield file, place, logical name and resource for the plan's resources of a type."""
    for stack, template in subject.plan.templates.items():
        for name, resource in template["Resources"].items():
            if resource["Type"] == type_:
                yield f"cloudformation/{stack}.json", f"Resources.{name}", name, resource


@rule
def buckets_guarded(subject: Subject) -> Iterator[Finding]:
    """Check that buckets are private, encrypted, versioned with expiry, and outlive their stack."""
    for file, place, _, bucket in _of(subject, "AWS::S3::Bucket"):
        properties = bucket["Properties"]
        public = properties.get("PublicAccessBlockConfiguration", {})
        lifecycle = properties.get("LifecycleConfiguration", {}).get("Rules", [])
        kept = bucket.get("DeletionPolicy"), bucket.get("UpdateReplacePolicy")
        for is_so, key, reason in (
            (
                all(public.get(key) is True for key in _PRIVATE),
                "PublicAccessBlockConfiguration",
                "the bucket could be made public",
            ),
            ("BucketEncryption" in properties, "BucketEncryption", "it would not be encrypted"),
            (
                properties.get("VersioningConfiguration", {}).get("Status") == "Enabled",
                "VersioningConfiguration",
                "what is replaced or deleted would be gone at once",
            ),
            (
                any(one.get("NoncurrentVersionExpiration") and "Prefix" not in one
                    for one in lifecycle),
                "LifecycleConfiguration",
                "old versions would be kept, and paid for, for ever",
            ),
            (kept == ("Retain", "Retain"), "DeletionPolicy", "it would go with its stack"),
        ):  # fmt: skip
            if not is_so:
                yield Finding(file, f"{place}.{key}", reason, "set it, as the plan's buckets do")


@rule
def buckets_by_tls(subject: Subject) -> Iterator[Finding]:
    """Check that each bucket's policy denies every request without TLS."""
    guarded = [
        (str(policy["Properties"]["Bucket"].get("Ref")), statement)
        for _, _, _, policy in _of(subject, "AWS::S3::BucketPolicy")
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    for file, place, name, bucket in _of(subject, "AWS::S3::Bucket"):
        arn = subject.promotion.profile.arn("s3", bucket["Properties"]["BucketName"], global_=True)
        wanted = {
            "Effect": "Deny",
            "Principal": "*",
            "Action": "s3:*",
            "Resource": [arn, f"{arn}/*"],
            "Condition": {"Bool": {"aws:SecureTransport": "false"}},
        }
        if not any(of == name and wanted.items() <= one.items() for of, one in guarded):
            yield Finding(
                file, place, "requests without TLS would be answered",
                "add a policy that denies them, for the bucket and all its objects",
            )  # fmt: skip


@rule
def databases_guarded(subject: Subject) -> Iterator[Finding]:
    """Check that databases are private, encrypted and protected from accidental deletion."""
    meant = {
        database.instance
        for database in subject.promotion.rds.values()
        if not database.deletion_protection
    }
    for file, place, _, database in _of(subject, "AWS::RDS::DBInstance"):
        properties = database["Properties"]
        kept = database.get("DeletionPolicy"), database.get("UpdateReplacePolicy")
        for is_so, key, reason in (
            (
                properties.get("DeletionProtection") is True
                or properties["DBInstanceIdentifier"] in meant,
                "Properties.DeletionProtection",
                "one request would delete the database",
            ),
            (
                properties.get("StorageEncrypted") is True,
                "Properties.StorageEncrypted",
                "its disk would not be encrypted",
            ),
            (
                properties.get("PubliclyAccessible") is False,
                "Properties.PubliclyAccessible",
                "it would have a public address",
            ),
            (
                kept == ("Snapshot", "Snapshot"),
                "DeletionPolicy",
                "nothing would be left of it once it is deleted",
            ),
        ):
            if not is_so:
                yield Finding(file, f"{place}.{key}", reason, "set it, as the plan's databases do")
