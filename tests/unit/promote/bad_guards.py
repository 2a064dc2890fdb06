"""A wider right, or a weaker guard, for every rule about rights, buckets and databases."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from labctl.promote.plan import Plan
from tests.unit.promote.bad_examples import SINK_FILE, Bad, in_template

__all__ = ["BAD_GUARDS"]

FOUNDATION = "cloudformation/foundation.json: Resources"
LAKE, ARTIFACTS = (
    "arn:aws:s3:::tickit-lake-111122223333",
    "arn:aws:s3:::tickit-artifacts-111122223333",
)
SINK = {"connect.sink": {"file": "plugins/sink.zip"}}


def allowing(role: str, action: str, resource: Any, **more: Any) -> Callable[[Plan], Plan]:
    """A plan whose role may do one thing more."""

    def changed(resources: dict[str, Any]) -> None:
        statement = {"Effect": "Allow", "Action": action, "Resource": resource, **more}
        document = {"Version": "2012-10-17", "Statement": statement}
        policies = resources[role]["Properties"].setdefault("Policies", [])
        policies.append({"PolicyName": "more", "PolicyDocument": document})

    return in_template("foundation", changed)


def with_properties(stack: str, name: str, **changes: Any) -> Callable[[Plan], Plan]:
    return in_template(stack, lambda r: r[name]["Properties"].update(changes))


def without(stack: str, name: str, *path: str) -> Callable[[Plan], Plan]:
    def changed(resources: dict[str, Any]) -> None:
        holder = resources[name]
        for key in path[:-1]:
            holder = holder[key]
        del holder[path[-1]]

    return in_template(stack, changed)


def by_http(resources: dict[str, Any]) -> None:
    document = resources["LakeBucketPolicy"]["Properties"]["PolicyDocument"]
    document["Statement"][0]["Resource"].pop()


def open_to_all(resources: dict[str, Any]) -> None:
    document = resources["LakeBucketPolicy"]["Properties"]["PolicyDocument"]
    document["Statement"].append(
        {
            "Effect": "Allow",
            "Principal": "*",
            "Action": "s3:GetObject",
            "Resource": f"{LAKE}/silver/*",
        }
    )


WIDE = (
    ("s3:GetObject", f"{LAKE}/*"),
    ("s3:GetObject", "arn:aws:s3:::tickit-*/silver/*"),
    ("s3:PutObject", {"Fn::Sub": "arn:aws:s3:::${AWS::StackName}/*"}),
    ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:us-east-1:111122223333:secret:*"),
    ("secretsmanager:GetSecretValue", "arn:aws:secretsmanager:*:111122223333:secret:demo/mysql"),
    ("iam:GetRole", "arn:aws:iam::111122223333:role/tickit-*"),
    ("kms:Decrypt", "*"),
)

BAD_GUARDS = [
    *(
        Bad(
            "named_resources",
            f"{FOUNDATION}.ConnectRole.Policies.more",
            f"it allows {action} on",
            plan=allowing("ConnectRole", action, resource),
        )
        for action, resource in WIDE
    ),
    Bad(
        "named_resources",
        f"{FOUNDATION}.SparkRole.Policies.more",
        "all but NotAction",
        plan=allowing("SparkRole", "s3:GetObject", f"{LAKE}/silver/*", NotAction="s3:PutObject"),
    ),
    Bad(
        "named_principals",
        f"{FOUNDATION}.SparkRole.AssumeRolePolicyDocument",
        "it allows {'AWS': '*'} to sts:AssumeRole",
        plan=in_template(
            "foundation",
            lambda r: r["SparkRole"]["Properties"]["AssumeRolePolicyDocument"]["Statement"][
                0
            ].update(Principal={"AWS": "*"}),
        ),
    ),
    Bad(
        "named_principals",
        f"{FOUNDATION}.LakeBucketPolicy.PolicyDocument",
        "it allows * to s3:GetObject",
        plan=in_template("foundation", open_to_all),
    ),
    Bad(
        "passed_roles",
        f"{FOUNDATION}.SparkRole.Policies.more",
        "any service",
        plan=allowing("SparkRole", "iam:PassRole", "arn:aws:iam::111122223333:role/tickit-emr"),
    ),
    Bad(
        "managed_policies",
        f"{FOUNDATION}.ConnectRole.Properties.ManagedPolicyArns",
        "all of arn:aws:iam::aws:policy/AmazonS3FullAccess",
        plan=with_properties(
            "foundation",
            "ConnectRole",
            ManagedPolicyArns=["arn:aws:iam::aws:policy/AmazonS3FullAccess"],
        ),
    ),
    *(
        Bad(
            "written_folders",
            f"{FOUNDATION}.{role}.Policies.more",
            says,
            SINK,
            plan=allowing(role, action, resource),
        )
        for role, action, resource, says in (
            ("SparkRole", "s3:PutObject", f"{ARTIFACTS}/spark/*", "where programs lie"),
            ("SparkRole", "s3:DeleteObject", f"{ARTIFACTS}/logs/*", "s3:DeleteObject on"),
            ("SparkRole", "s3:PutBucketPolicy", ARTIFACTS, "where programs lie"),
            ("SparkRole", "s3:DeleteObjectVersion", f"{LAKE}/silver/*", "DeleteObjectVersion on"),
            ("SparkRole", "s3:DeleteObject", f"{LAKE}/athena/*", "s3:DeleteObject on"),
            ("ConnectRole", "s3:DeleteObject", f"{LAKE}/topics/*", "s3:DeleteObject on"),
        )
    ),
    Bad(
        "bronze_named",
        f"connectors/{SINK_FILE}: topics.dir",
        "no policy can be about the folder",
        connector=(SINK_FILE, "topics.dir", "topics/*"),
    ),
    Bad(
        "bronze_named",
        f"connectors/{SINK_FILE}: topics.dir",
        "could write silver/",
        connector=(SINK_FILE, "topics.dir", "silver/bronze"),
    ),
    *(
        Bad(
            "buckets_guarded",
            f"{FOUNDATION}.LakeBucket.{place}",
            says,
            plan=plan,
        )
        for place, says, plan in (
            (
                "PublicAccessBlockConfiguration",
                "made public",
                without(
                    "foundation",
                    "LakeBucket",
                    "Properties",
                    "PublicAccessBlockConfiguration",
                    "BlockPublicPolicy",
                ),
            ),
            (
                "BucketEncryption",
                "not be encrypted",
                without("foundation", "LakeBucket", "Properties", "BucketEncryption"),
            ),
            (
                "VersioningConfiguration",
                "gone at once",
                with_properties(
                    "foundation", "LakeBucket", VersioningConfiguration={"Status": "Suspended"}
                ),
            ),
            (
                "LifecycleConfiguration",
                "for ever",
                without("foundation", "LakeBucket", "Properties", "LifecycleConfiguration"),
            ),
            (
                "DeletionPolicy",
                "go with its stack",
                without("foundation", "LakeBucket", "UpdateReplacePolicy"),
            ),
        )
    ),
    Bad(
        "buckets_by_tls",
        f"{FOUNDATION}.ArtifactsBucket",
        "without TLS",
        plan=in_template("foundation", lambda r: r.pop("ArtifactsBucketPolicy")),
    ),
    Bad(
        "buckets_by_tls",
        f"{FOUNDATION}.LakeBucket",
        "without TLS",
        plan=in_template("foundation", by_http),
    ),
    *(
        Bad(
            "databases_guarded",
            f"cloudformation/data.json: Resources.MysqlDatabase.{place}",
            says,
            plan=plan,
        )
        for place, says, plan in (
            (
                "Properties.DeletionProtection",
                "one request",
                with_properties("data", "MysqlDatabase", DeletionProtection=False),
            ),
            (
                "Properties.StorageEncrypted",
                "not be encrypted",
                without("data", "MysqlDatabase", "Properties", "StorageEncrypted"),
            ),
            (
                "Properties.PubliclyAccessible",
                "public address",
                without("data", "MysqlDatabase", "Properties", "PubliclyAccessible"),
            ),
            (
                "DeletionPolicy",
                "nothing would be left",
                without("data", "MysqlDatabase", "DeletionPolicy"),
            ),
        )
    ),
]
