"""IAM policy statements. Every resource is named; a star stands only for what AWS makes up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from labctl.config.aws import CATALOG, RESULTS
from labctl.promote.cloudformation.template import ref
from labctl.promote.kafka import connect_authentication
from labctl.promote.names import Names, logical
from labctl.promote.promotion import Promotion
from labctl.promote.secrets import referenced

__all__ = [
    "allow",
    "bucket",
    "connect_policies",
    "policy",
    "reader_policy",
    "spark_policies",
    "trust",
]

Json = dict[str, Any]


def trust(service: str, account: str | None = None) -> Json:
    """The service that may take a role on; for `account` alone where it says for whom it works."""
    statement: Json = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
    }
    if account:
        statement["Condition"] = {"StringEquals": {"aws:SourceAccount": account}}
    return _document([statement])


def connect_policies(promotion: Promotion) -> list[Json]:
    """What a connector's execution role may do."""
    names = Names.of(promotion)
    secrets = [ref(logical("Secret", name)) for name, keys in referenced(promotion).items() if keys]
    policies = [policy("secrets", [allow(["secretsmanager:GetSecretValue"], secrets)])]
    if connect_authentication(promotion.profile.msk) == "iam":
        topics = [
            *{table.topic.split(".")[0] + ".*" for table in promotion.tables},
            "__debezium-heartbeat.*",
            "schema-history.*",
            f"{names.prefix}-offsets-*",
            "__amazon_msk_connect_*",
        ]
        policies.append(
            policy(
                "brokers",
                [
                    allow(
                        [
                            "kafka-cluster:Connect",
                            "kafka-cluster:DescribeCluster",
                            "kafka-cluster:DescribeClusterDynamicConfiguration",
                            "kafka-cluster:WriteDataIdempotently",
                        ],
                        [_kafka(promotion, "cluster")],
                    ),
                    allow(
                        [
                            "kafka-cluster:CreateTopic",
                            "kafka-cluster:DescribeTopic",
                            "kafka-cluster:DescribeTopicDynamicConfiguration",
                            "kafka-cluster:ReadData",
                            "kafka-cluster:WriteData",
                        ],
                        [_kafka(promotion, "topic", topic) for topic in sorted(topics)],
                    ),
                    allow(
                        ["kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"],
                        [
                            _kafka(promotion, "group", group)
                            for group in ("__amazon_msk_connect_*", "connect-*", "*-schemahistory")
                        ],
                    ),
                ],
            )
        )
    if promotion.profile.connect.sink:
        policies.append(policy("bronze", bucket(promotion, promotion.profile.lake.bucket)))
    return policies


def spark_policies(promotion: Promotion) -> list[Json]:
    """What the Spark application may do."""
    profile = promotion.profile
    policies = [
        policy("lake", bucket(promotion, profile.lake.bucket)),
        policy("artifacts", bucket(promotion, profile.lake.artifacts)),
        policy(
            "catalog",
            [
                allow(
                    [
                        "glue:GetDatabase",
                        "glue:GetDatabases",
                        "glue:GetTable",
                        "glue:GetTables",
                        "glue:CreateTable",
                        "glue:UpdateTable",
                        "glue:DeleteTable",
                        "glue:GetPartition",
                        "glue:GetPartitions",
                        "glue:BatchCreatePartition",
                        "glue:BatchUpdatePartition",
                        "glue:BatchDeletePartition",
                        "glue:GetTableVersions",
                        "glue:GetUserDefinedFunctions",
                    ],
                    _catalog(promotion, promotion.databases),
                )
            ],
        ),
    ]
    if connect_authentication(profile.msk) == "iam":
        prefixes = sorted({table.topic.split(".")[0] + ".*" for table in promotion.tables})
        policies.append(
            policy(
                "brokers",
                [
                    allow(
                        ["kafka-cluster:Connect", "kafka-cluster:DescribeCluster"],
                        [_kafka(promotion, "cluster")],
                    ),
                    allow(
                        ["kafka-cluster:DescribeTopic", "kafka-cluster:ReadData"],
                        [_kafka(promotion, "topic", prefix) for prefix in prefixes],
                    ),
                    allow(
                        ["kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"],
                        [_kafka(promotion, "group", "spark-kafka-source-*")],
                    ),
                ],
            )
        )
    return policies


def reader_policy(promotion: Promotion) -> Json:
    """What somebody needs who asks the lake in its workgroup: nothing is written but results."""
    profile = promotion.profile
    arn = profile.arn("s3", profile.lake.bucket, global_=True)
    return _document(
        [
            allow(
                [
                    "athena:GetWorkGroup",
                    "athena:StartQueryExecution",
                    "athena:StopQueryExecution",
                    "athena:GetQueryExecution",
                    "athena:BatchGetQueryExecution",
                    "athena:ListQueryExecutions",
                    "athena:GetQueryResults",
                    "athena:CreateNamedQuery",
                    "athena:GetNamedQuery",
                    "athena:BatchGetNamedQuery",
                    "athena:ListNamedQueries",
                    "athena:UpdateNamedQuery",
                    "athena:DeleteNamedQuery",
                    "athena:CreatePreparedStatement",
                    "athena:GetPreparedStatement",
                    "athena:BatchGetPreparedStatement",
                    "athena:ListPreparedStatements",
                    "athena:UpdatePreparedStatement",
                    "athena:DeletePreparedStatement",
                ],
                [profile.arn("athena", f"workgroup/{profile.workgroup}")],
            ),
            allow(
                [
                    "athena:GetDataCatalog",
                    "athena:GetDatabase",
                    "athena:ListDatabases",
                    "athena:GetTableMetadata",
                    "athena:ListTableMetadata",
                ],
                [profile.arn("athena", f"datacatalog/{CATALOG}")],
            ),
            allow(
                [
                    "glue:GetDatabase",
                    "glue:GetDatabases",
                    "glue:GetTable",
                    "glue:GetTables",
                    "glue:GetPartition",
                    "glue:GetPartitions",
                    "glue:BatchGetPartition",
                ],
                _catalog(promotion, (*promotion.databases, *promotion.view_databases)),
            ),
            allow(["s3:ListBucket", "s3:GetBucketLocation"], [arn]),
            allow(["s3:GetObject"], [f"{arn}/silver/*"]),
            allow(
                [
                    "s3:GetObject",
                    "s3:PutObject",
                    "s3:AbortMultipartUpload",
                    "s3:ListMultipartUploadParts",
                ],
                [f"{arn}/{RESULTS}/*"],
            ),
        ]
    )


def _catalog(promotion: Promotion, databases: Iterable[str]) -> list[str]:
    """The catalogue as far as it is these databases' and their tables'."""
    return [
        promotion.profile.arn("glue", "catalog"),
        *(
            promotion.profile.arn("glue", name)
            for database in databases
            for name in (f"database/{database}", f"table/{database}/*")
        ),
        # Spark's catalogue and Athena ask for this one wherever they start.
        promotion.profile.arn("glue", "database/default"),
    ]


def bucket(promotion: Promotion, name: str) -> list[Json]:
    """Reading and writing one bucket's objects."""
    arn = promotion.profile.arn("s3", name, global_=True)
    return [
        allow(["s3:ListBucket", "s3:GetBucketLocation"], [arn]),
        allow(
            ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
            [f"{arn}/*"],
        ),
    ]


def _kafka(promotion: Promotion, kind: str, name: str = "") -> str:
    """The star in the middle is the cluster's id, which MSK makes up."""
    path = f"{kind}/{Names.of(promotion).cluster}/*"
    return promotion.profile.arn("kafka", f"{path}/{name}" if name else path)


def policy(name: str, statements: list[Json]) -> Json:
    return {"PolicyName": name, "PolicyDocument": _document(statements)}


def _document(statements: list[Json]) -> Json:
    return {"Version": "2012-10-17", "Statement": statements}


def allow(actions: list[str], resources: Iterable[Any]) -> Json:
    return {"Effect": "Allow", "Action": actions, "Resource": list(resources)}
