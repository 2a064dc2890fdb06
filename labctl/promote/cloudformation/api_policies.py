"""The lake API's policies: those of its tasks' role and of the role that ECS uses to start them."""

from __future__ import annotations

from collections.abc import Iterable

from labctl.config.aws import CATALOG, RESULTS
from labctl.promote.aws_names import Names
from labctl.promote.cloudformation.policies import allow, policy
from labctl.promote.cloudformation.template import Json, ref
from labctl.promote.lake_api_settings import api_reads, own_views
from labctl.promote.promotion import Promotion

__all__ = ["LOG_STREAMS", "start_policies", "task_policies"]

LOG_STREAMS = "task"
"""The prefix of the tasks' log streams."""


def task_policies(promotion: Promotion) -> list[Json]:
    """Return policies to query in the workgroup and read the service's views and their tables.

    The service may write only the results and what it keeps in Athena: the prepared statement, the
    named query, and those of its own views that `gold/` does not have.
    """
    profile = promotion.profile
    bucket = profile.arn("s3", profile.lake.bucket, global_=True)
    _, folders = api_reads(promotion)
    return [
        policy(
            "athena",
            [
                allow(
                    [
                        "athena:GetWorkGroup",
                        "athena:StartQueryExecution",
                        "athena:StopQueryExecution",
                        "athena:GetQueryExecution",
                        "athena:GetQueryResults",
                        "athena:CreateNamedQuery",
                        "athena:GetNamedQuery",
                        "athena:BatchGetNamedQuery",
                        "athena:ListNamedQueries",
                        "athena:CreatePreparedStatement",
                        "athena:GetPreparedStatement",
                    ],
                    [profile.arn("athena", f"workgroup/{profile.workgroup}")],
                ),
                allow(
                    ["athena:GetDataCatalog", "athena:GetTableMetadata"],
                    [profile.arn("athena", f"datacatalog/{CATALOG}")],
                ),
            ],
        ),
        policy("catalog", _catalog(promotion)),
        policy(
            "lake",
            [
                allow(["s3:ListBucket", "s3:GetBucketLocation"], [bucket]),
                allow(["s3:GetObject"], [f"{bucket}/silver/{folder}/*" for folder in folders]),
                allow(
                    [
                        "s3:GetObject",
                        "s3:PutObject",
                        "s3:AbortMultipartUpload",
                        "s3:ListMultipartUploadParts",
                    ],
                    [f"{bucket}/{RESULTS}/*"],
                ),
            ],
        ),
    ]


def _catalog(promotion: Promotion) -> list[Json]:
    read, _ = api_reads(promotion)
    made = {view.name for view in promotion.lake_views}
    # Athena asks for `default` whenever it starts.
    databases = {"default", *(name.partition(".")[0] for name in read)}
    statements = [
        allow(
            [
                "glue:GetDatabase",
                "glue:GetTable",
                "glue:GetPartition",
                "glue:GetPartitions",
                "glue:BatchGetPartition",
            ],
            _catalog_arns(promotion, databases, read),
        )
    ]
    if missing := [name for name in own_views() if name not in made]:
        places = {name.partition(".")[0] for name in missing}
        statements.append(
            allow(
                ["glue:CreateTable", "glue:UpdateTable"],
                _catalog_arns(promotion, places, missing),
            )
        )
    return statements


def _catalog_arns(
    promotion: Promotion, databases: Iterable[str], tables: Iterable[str]
) -> list[str]:
    """Return the ARNs of the catalogue, these databases, and these tables and views."""
    names = [
        "catalog",
        *(f"database/{database}" for database in sorted(databases)),
        *(f"table/{table.replace('.', '/')}" for table in tables),
    ]
    return [promotion.profile.arn("glue", name) for name in names]


def start_policies(promotion: Promotion) -> list[Json]:
    """Return policies to fetch the image, write the log and read the secret for a new task."""
    names, profile = Names.of(promotion), promotion.profile
    policies = [
        policy(
            "image",
            [
                # One token covers the account's whole registry.
                allow(["ecr:GetAuthorizationToken"], ["*"]),
                allow(
                    [
                        "ecr:BatchCheckLayerAvailability",
                        "ecr:BatchGetImage",
                        "ecr:GetDownloadUrlForLayer",
                    ],
                    [profile.arn("ecr", f"repository/{names.api}")],
                ),
            ],
        ),
        policy(
            "log",
            [
                allow(
                    ["logs:CreateLogStream", "logs:PutLogEvents"],
                    [
                        profile.arn(
                            "logs", f"log-group:{names.api_log_group}:log-stream:{LOG_STREAMS}/*"
                        )
                    ],
                )
            ],
        ),
    ]
    if promotion.config.cache.enabled:
        policies.append(
            policy("secret", [allow(["secretsmanager:GetSecretValue"], [ref("CacheSecret")])])
        )
    return policies
