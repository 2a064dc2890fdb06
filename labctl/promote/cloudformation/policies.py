"""IAM policy statements.

Every resource is named; a star stands only for ids that AWS makes up and for a folder's content.
`labctl.promote.rules.policies_rules` refuses a plan that breaks this rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from labctl.config.aws import CATALOG, RESULTS
from labctl.promote.artifacts import LOGS, PROGRAMS
from labctl.promote.aws_names import Names, logical
from labctl.promote.broker_logins import connect_authentication
from labctl.promote.cloudformation.template import ref
from labctl.promote.connector_secrets import referenced
from labctl.promote.promotion import Promotion
from labctl.sinks import Sink
from lakecontract.lake_folders import OWN_FOLDERS

__all__ = [
    "allow",
    "connect_policies",
    "policy",
    "reader_policy",
    "spark_policies",
    "trust",
]

Json = dict[str, Any]


def trust(service: str, account: str | None = None) -> Json:
    """Return a trust policy that lets `service` assume a role, only for `account` if given."""
    statement: Json = {
        "Effect": "Allow",
        "Principal": {"Service": service},
        "Action": "sts:AssumeRole",
    }
    if account:
        statement["Condition"] = {"StringEquals": {"aws:SourceAccount": account}}
    return _document([statement])


def connect_policies(promotion: Promotion) -> list[Json]:
    """Return the policies of a connector's execution role."""
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
        policies.append(policy("bronze", _sink_statements(promotion)))
    return policies


def _sink_statements(promotion: Promotion) -> list[Json]:
    """Return statements to add files to bronze; a sink connector neither reads nor removes any."""
    arn = _bucket(promotion, promotion.profile.lake.bucket)
    actions = ["s3:PutObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"]
    if any(_tags_objects(sink) for sink in promotion.sinks):
        actions.append("s3:PutObjectTagging")
    return [_look_into(arn), allow(actions, _inside(arn, _bronze(promotion)))]


def _tags_objects(sink: Sink) -> bool:
    return sink.file.config.get("s3.object.tagging", "false").lower() == "true"


def spark_policies(promotion: Promotion) -> list[Json]:
    """Return the policies of the Spark application."""
    profile = promotion.profile
    policies = [
        policy("lake", _lake_statements(promotion)),
        policy("artifacts", _program_statements(promotion)),
        policy(
            "catalog",
            [
                allow(
                    [
                        "glue:GetDatabase",
                        "glue:GetDatabases",
                        "glue:GetTable",
                        "glue:GetTables",
                        "glue:GetPartition",
                        "glue:GetPartitions",
                        "glue:GetTableVersions",
                        "glue:GetUserDefinedFunctions",
                    ],
                    _catalog(promotion, promotion.databases),
                ),
                allow(
                    [
                        "glue:CreateTable",
                        "glue:UpdateTable",
                        # If the catalog cannot change a table's columns, Hudi creates it again.
                        "glue:DeleteTable",
                        "glue:BatchCreatePartition",
                        "glue:BatchUpdatePartition",
                        "glue:BatchDeletePartition",
                    ],
                    _own_catalog(promotion, promotion.databases),
                ),
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


def _lake_statements(promotion: Promotion) -> list[Json]:
    """Return statements to write silver, the application's folders, and bronze if it does so.

    It writes bronze if no connector does. With a retention, it removes the old files of either.
    """
    profile = promotion.profile
    arn, bronze = _bucket(promotion, profile.lake.bucket), _bronze(promotion)
    written, read = {"silver"}, bronze
    if profile.emr.engine == "application":
        written.update(OWN_FOLDERS)
        if profile.connect.sink is None or promotion.config.lake.retention is not None:
            written.update(bronze)
            read = set()
    statements = [
        _look_into(arn),
        allow(["s3:GetObject"], _above(arn, {*written, *read})),
        allow(
            ["s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload"],
            _inside(arn, written),
        ),
    ]
    if read:
        statements.append(allow(["s3:GetObject"], _inside(arn, read)))
    return statements


def _program_statements(promotion: Promotion) -> list[Json]:
    """Return statements to read programs and add logs; a runner must not replace its program."""
    arn = _bucket(promotion, promotion.profile.lake.artifacts)
    return [
        _look_into(arn),
        allow(["s3:GetObject"], _inside(arn, (*PROGRAMS, LOGS))),
        allow(["s3:PutObject", "s3:AbortMultipartUpload"], _inside(arn, [LOGS])),
    ]


def _bronze(promotion: Promotion) -> set[str]:
    """Return bronze's folders."""
    return {sink.topics_dir for sink in promotion.sinks}


def reader_policy(promotion: Promotion) -> Json:
    """Return the policy to query the lake in its workgroup; in S3 it may write only results."""
    profile = promotion.profile
    arn = _bucket(promotion, profile.lake.bucket)
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
            _look_into(arn),
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


def _own_catalog(promotion: Promotion, databases: Iterable[str]) -> list[str]:
    """Return the ARNs of the catalogue, these databases and all their tables."""
    return [
        promotion.profile.arn("glue", "catalog"),
        *(
            promotion.profile.arn("glue", name)
            for database in databases
            for name in (f"database/{database}", f"table/{database}/*")
        ),
    ]


def _catalog(promotion: Promotion, databases: Iterable[str]) -> list[str]:
    """Return the same ARNs plus `default`, which Spark's catalogue and Athena read at start."""
    default = promotion.profile.arn("glue", "database/default")
    return [*_own_catalog(promotion, databases), default]


def _bucket(promotion: Promotion, name: str) -> str:
    return promotion.profile.arn("s3", name, global_=True)


def _look_into(bucket: str) -> Json:
    """Return a statement to list all objects by prefix and to ask for the bucket's region."""
    return allow(["s3:ListBucket", "s3:GetBucketLocation"], [bucket])


def _inside(bucket: str, folders: Iterable[str]) -> list[str]:
    """Return the ARN pattern of all objects in each folder."""
    return [f"{bucket}/{folder}/*" for folder in sorted(folders)]


def _above(bucket: str, folders: Iterable[str]) -> list[str]:
    """Return the ARNs of the folders and their parents: Hadoop checks whether one is a file."""
    names = {
        "/".join(parts[: end + 1])
        for parts in (folder.split("/") for folder in folders)
        for end in range(len(parts))
    }
    return [f"{bucket}/{name}" for name in sorted(names)]


def _kafka(promotion: Promotion, kind: str, name: str = "") -> str:
    """Return a Kafka ARN; the star in its middle is the cluster's id, which MSK makes up."""
    path = f"{kind}/{Names.of(promotion).cluster}/*"
    return promotion.profile.arn("kafka", f"{path}/{name}" if name else path)


def policy(name: str, statements: list[Json]) -> Json:
    return {"PolicyName": name, "PolicyDocument": _document(statements)}


def _document(statements: list[Json]) -> Json:
    return {"Version": "2012-10-17", "Statement": statements}


def allow(actions: list[str], resources: Iterable[Any]) -> Json:
    return {"Effect": "Allow", "Action": actions, "Resource": list(resources)}
