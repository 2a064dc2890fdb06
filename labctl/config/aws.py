"""The `aws` profile of `lab.toml`: what the promotion creates, and where.

What one value can tell is checked here, with the rest of `lab.toml`; what several values, the
connector files or AWS's own limits have to say is checked by `labctl.promote.rules`. Every key is
in the example in `lab.toml`, with a comment. No key takes a secret: secrets have names.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from labctl.config.promoted import PromotedEndpoints
from labctl.config.section import Section, SourceEngine

__all__ = [
    "CATALOG",
    "RESULTS",
    "AthenaSettings",
    "Autoscaling",
    "AwsProfile",
    "ConfigProvider",
    "ConnectSettings",
    "EmrSettings",
    "GlueSettings",
    "LakeBuckets",
    "MskSettings",
    "NetworkSettings",
    "RdsSettings",
    "RegistrySettings",
    "SinkSettings",
]

AccountId = Annotated[str, Field(pattern=r"^\d{12}$")]
Region = Annotated[str, Field(pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")]
VpcId = Annotated[str, Field(pattern=r"^vpc-([0-9a-f]{8}|[0-9a-f]{17})$")]
SubnetId = Annotated[str, Field(pattern=r"^subnet-([0-9a-f]{8}|[0-9a-f]{17})$")]
GroupId = Annotated[str, Field(pattern=r"^sg-([0-9a-f]{8}|[0-9a-f]{17})$")]
RouteTableId = Annotated[str, Field(pattern=r"^rtb-([0-9a-f]{8}|[0-9a-f]{17})$")]
Cidr = Annotated[str, Field(pattern=r"^\d{1,3}(\.\d{1,3}){3}/\d{1,2}$")]
Port = Annotated[int, Field(ge=1, le=65535)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Prefix = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,29}$")]
Bucket = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")]

CATALOG = "AwsDataCatalog"
"""What Athena calls Glue's catalog."""
RESULTS = "athena"
"""Folder of the lake's bucket for the results of Athena."""


class EgressRule(Section):
    """Where Connect's workers and Spark may go, besides databases, brokers and each other."""

    cidr: Cidr
    ports: tuple[Port, ...]


class NetworkSettings(Section):
    """Existing network the lab is put into; security groups of the lab's own are made in it."""

    vpc: VpcId
    subnets: dict[str, SubnetId]
    """Private subnets by availability zone (`us-east-1a`)."""
    egress: Literal["nat", "endpoints", "none"]
    """How private subnets reach AWS's APIs. "endpoints" has the plan make VPC endpoints."""
    route_tables: tuple[RouteTableId, ...] = ()
    """Of the subnets; for the S3 gateway endpoint ("endpoints" only)."""
    allow: tuple[EgressRule, ...] = (EgressRule(cidr="0.0.0.0/0", ports=(443,)),)
    clients: tuple[Cidr, ...] = ()
    """Addresses that may reach databases and brokers besides the lab itself: a VPN, a bastion."""


class RdsSettings(Section):
    """One source database."""

    create: bool = True
    """False: the instance is there already; only its parameter group and SQL are rendered."""
    instance: str
    """Identifier of the instance."""
    version: str
    """Engine version, as RDS names it: `17.6`, `8.4.6`, `15.00.4435.7.v1`."""
    edition: Literal["ee", "se", "ex", "web"] | None = None
    """SQL Server only."""
    instance_class: str
    storage_gib: Annotated[int, Field(ge=20, le=65536)] = 20
    database: str
    port: Port
    backup_days: Annotated[int, Field(ge=0, le=35)] = 7
    multi_az: bool = False
    host: str | None = None
    """Address of an instance that is there already."""
    admin_secret: str | None = None
    """Name or ARN of its administrator's secret (`username`, `password`); RDS makes one for an
    instance that the plan creates."""
    security_group: GroupId | None = None
    """Its group, into which the connectors are let."""


class MskSettings(Section):
    """The brokers."""

    kind: Literal["provisioned", "serverless"]
    kafka_version: str = "3.9.x"
    broker_type: str = "kafka.t3.small"
    brokers: Annotated[int, Field(ge=1, le=60)] = 2
    storage_gib: Annotated[int, Field(ge=1, le=16384)] = 100
    authentication: tuple[Literal["iam", "scram", "none"], ...] = ("iam",)
    """What the brokers accept."""
    scram_secret: str | None = None
    """Name of the SCRAM users' secret; MSK wants it to begin with `AmazonMSK_`."""
    kms_key: str | None = None
    """ARN of the customer-managed key that encrypts the SCRAM secret."""


class Autoscaling(Section):
    min_workers: Annotated[int, Field(ge=1)]
    max_workers: Annotated[int, Field(ge=1)]
    scale_in_percent: Annotated[int, Field(ge=1, le=100)] = 20
    scale_out_percent: Annotated[int, Field(ge=1, le=100)] = 80


class ConfigProvider(Section):
    """What answers `${secretManager:…}` on the workers; no registry this project uses has one."""

    file: str
    """A jar, or a ZIP of jars, below the project's folder."""
    sha256: Sha256 | None = None
    provider_class: str = Field(
        default="com.amazonaws.kafka.config.providers.SecretsManagerConfigProvider", alias="class"
    )
    region_parameter: str = "region"
    """The provider's own parameter for the region (`aws.region` for others)."""


class SinkSettings(Section):
    """The S3 sink connector, for who has it; without this section Spark writes bronze."""

    file: str
    """ZIP of the connector, below the project's folder."""
    sha256: Sha256 | None = None


class ConnectSettings(Section):
    """MSK Connect."""

    version: str = "3.7.x"
    mcu: int = 1
    """MSK Connect units of a worker: 1 vCPU and 4 GiB each."""
    workers: Annotated[int, Field(ge=1)] | None = None
    autoscaling: Autoscaling | None = None
    connectors: Literal["api", "cloudformation"] = "api"
    """What owns the connectors. Only the API changes one in place."""
    provider: ConfigProvider
    sink: SinkSettings | None = None
    log_days: int = 14


class RegistrySettings(Section):
    """An Apicurio Registry you run: AWS manages none."""

    url: str
    """Without `/apis/…`."""
    security_group: GroupId | None = None
    """Its group, into which Connect and Spark are let; or reach it through `network.allow`."""


class LakeBuckets(Section):
    bucket: Bucket
    """Bronze and silver. Bucket names are unique in all of AWS."""
    artifacts: Bucket
    """Plugins, the Spark application, logs."""
    create: bool = True
    rotation_ms: Annotated[int, Field(ge=1000)] = 60_000
    """How long a change waits for its bronze file at most."""


class EmrSettings(Section):
    """Where Spark runs."""

    kind: Literal["serverless", "ec2"]
    release: str = "emr-7.13.0"
    hudi: Literal["lock", "release"] = "lock"
    """Whose Hudi the application uses: the lab's own jar, or the release's."""
    engine: Literal["application", "streamer", "multi-table-streamer"] = "application"
    python: str | None = None
    """Serverless: a packed Python 3.11 environment with fastavro (tar.gz), below the project."""
    instance_type: str = "m6g.xlarge"
    core_instances: Annotated[int, Field(ge=1)] = 1
    driver_memory: Annotated[str, Field(pattern=r"^[1-9][0-9]*g$")] = "4g"
    executor_memory: Annotated[str, Field(pattern=r"^[1-9][0-9]*g$")] = "4g"
    executors: Annotated[int, Field(ge=1)] = 1
    sync_minutes: Annotated[int, Field(ge=1)] = 1
    """Pause between a streamer's rounds."""


class GlueSettings(Section):
    """The databases are those of the tables' properties."""

    athena: bool = True
    """Write tables that Athena reads: Hudi table version 6."""

    @model_validator(mode="before")
    @classmethod
    def _names_no_database(cls, data: Any) -> Any:
        if isinstance(data, dict) and "database" in data:
            raise ValueError(
                "remove `database`: the tables' properties name it, as hoodie.database.name in "
                "spark/properties/base.properties"
            )
        return data


class AthenaSettings(Section):
    """The workgroup in which the lake is asked."""

    scan_gib: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """What one query may read; Athena stops it there."""
    result_days: Annotated[int, Field(ge=1, le=3650)] = 7
    """How long results are kept."""


class AwsProfile(Section):
    """A lab on managed services."""

    runtime: Literal["aws"]
    account: AccountId
    region: Region
    prefix: Prefix = "lab"
    """What the name of everything begins with."""
    tags: dict[str, str] = Field(default_factory=dict)
    network: NetworkSettings
    rds: dict[SourceEngine, RdsSettings]
    msk: MskSettings
    connect: ConnectSettings
    registry: RegistrySettings
    lake: LakeBuckets
    emr: EmrSettings
    glue: GlueSettings = GlueSettings()
    athena: AthenaSettings = AthenaSettings()
    endpoints: PromotedEndpoints = PromotedEndpoints()
    """Wins over what `promote apply` wrote down: for a tunnel, or a lab made by other means."""

    @property
    def partition(self) -> str:
        """`aws`, `aws-cn`, `aws-us-gov`: the second field of every ARN."""
        if self.region.startswith("cn-"):
            return "aws-cn"
        return "aws-us-gov" if self.region.startswith("us-gov-") else "aws"

    @property
    def workgroup(self) -> str:
        """Athena's, which the plan makes; `primary` is every account's own."""
        return f"{self.prefix}-athena"

    @property
    def results(self) -> str:
        """Where the workgroup puts results."""
        return f"s3://{self.lake.bucket}/{RESULTS}/"

    def arn(self, service: str, resource: str, *, global_: bool = False) -> str:
        """The ARN of a resource of this account; IAM and S3 know no region (`global_`)."""
        region = "" if global_ else self.region
        account = "" if service == "s3" else self.account
        return f"arn:{self.partition}:{service}:{region}:{account}:{resource}"
