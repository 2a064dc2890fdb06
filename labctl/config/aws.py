"""The `aws` profile of `lab.toml`: what the promotion creates, and where.

What one value can tell is checked here, with the rest of `lab.toml`; what several values, the
connector files or AWS's own limits have to say is checked by `labctl.promote.rules`. Every key is
in the example in `lab.toml`, with a comment. No key takes a secret: secrets have names.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from labctl.config.promoted import PromotedEndpoints
from labctl.config.section import Section
from labctl.engine_names import EngineName

__all__ = [
    "CATALOG",
    "RESULTS",
    "ApiHosting",
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
CertificateArn = Annotated[
    str, Field(pattern=r"^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate/[\w-]+$")
]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Prefix = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,29}$")]
Bucket = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$")]

CATALOG = "AwsDataCatalog"
"""Athena's name of Glue's catalog."""
RESULTS = "athena"
"""Folder of the lake's bucket for the results of Athena."""


class EgressRule(Section):
    """A destination of Connect's workers, Spark and the lake API, besides databases, brokers and
    each other."""

    cidr: Cidr
    """Addresses."""
    ports: tuple[Port, ...]
    """Ports there."""


class NetworkSettings(Section):
    """The existing network that the lab is put into. The plan makes security groups in it."""

    vpc: VpcId
    """The VPC."""
    subnets: dict[str, SubnetId]
    """Private subnets by availability zone (`us-east-1a`)."""
    egress: Literal["nat", "endpoints", "none"]
    """The way from private subnets to AWS's APIs. "endpoints" has the plan make VPC endpoints."""
    route_tables: tuple[RouteTableId, ...] = ()
    """The subnets' route tables, for S3's gateway endpoint (`egress = "endpoints"` only)."""
    allow: tuple[EgressRule, ...] = (EgressRule(cidr="0.0.0.0/0", ports=(443,)),)
    """Addresses that Connect's workers and Spark may reach, besides databases, brokers and each
    other; the lake API on port 443 alone."""
    clients: tuple[Cidr, ...] = ()
    """Addresses that may reach databases, brokers and the lake API besides the lab itself: a VPN, a
    bastion."""


class RdsSettings(Section):
    """A source database, by its engine: `[profiles.aws.rds.postgres]`."""

    create: bool = True
    """`false`: the instance exists. The plan has only its parameter group and its SQL."""
    instance: str
    """Identifier of the instance."""
    version: str
    """Engine version, as RDS names it: `17.6`, `8.4.6`, `15.00.4435.7.v1`."""
    edition: Literal["ee", "se", "ex", "web"] | None = None
    """SQL Server only."""
    instance_class: str
    """Size of the instance: `db.t4g.medium`."""
    storage_gib: Annotated[int, Field(ge=20, le=65536)] = 20
    """Size of its disk."""
    database: str
    """The database that is captured."""
    port: Port
    """The port that it listens on."""
    backup_days: Annotated[int, Field(ge=0, le=35)] = 7
    """Retention of automated backups. MySQL's binary log needs at least 1."""
    multi_az: bool = False
    """True if a standby runs in a second availability zone."""
    deletion_protection: bool = True
    """True if RDS refuses to delete the instance. `promote destroy --data` wants `false`,
    applied."""
    host: str | None = None
    """Address of an instance that exists."""
    admin_secret: str | None = None
    """Name or ARN of its administrator's secret (`username`, `password`). RDS makes one for an
    instance that the plan creates."""
    security_group: GroupId | None = None
    """Its security group. The plan lets the connectors into it."""


class MskSettings(Section):
    """The brokers."""

    kind: Literal["provisioned", "serverless"]
    """Kind of cluster."""
    kafka_version: str = "3.9.x"
    """Kafka's version, as MSK names it."""
    broker_type: str = "kafka.t3.small"
    """Size of a broker."""
    brokers: Annotated[int, Field(ge=1, le=60)] = 2
    """Number of brokers."""
    storage_gib: Annotated[int, Field(ge=1, le=16384)] = 100
    """Size of each broker's disk."""
    authentication: tuple[Literal["iam", "scram", "none"], ...] = ("iam",)
    """Kinds of login that the brokers accept."""
    scram_secret: str | None = None
    """Name of the SCRAM users' secret, with `authentication = ["scram"]`. MSK wants it to begin
    with `AmazonMSK_`."""
    kms_key: str | None = None
    """ARN of the customer-managed key that encrypts the SCRAM secret."""


class Autoscaling(Section):
    """A number of workers that follows the load, instead of `workers`."""

    min_workers: Annotated[int, Field(ge=1)]
    """At least so many."""
    max_workers: Annotated[int, Field(ge=1)]
    """At most so many."""
    scale_in_percent: Annotated[int, Field(ge=1, le=100)] = 20
    """Below this share of CPU time, a worker is taken away."""
    scale_out_percent: Annotated[int, Field(ge=1, le=100)] = 80
    """Above this share of CPU time, a worker is added."""


class ConfigProvider(Section):
    """The provider that resolves `${secretManager:…}` on the workers. No registry of this project
    has one."""

    file: str
    """A jar, or a ZIP of jars, below the project's folder."""
    sha256: Sha256 | None = None
    """The checksum that the file must have."""
    provider_class: str = Field(
        default="com.amazonaws.kafka.config.providers.SecretsManagerConfigProvider", alias="class"
    )
    """The provider's Java class."""
    region_parameter: str = "region"
    """The provider's own parameter for the region (`aws.region` for others)."""


class SinkSettings(Section):
    """The S3 sink connector, if you have it. Without this section, Spark writes bronze."""

    file: str
    """ZIP of the connector, below the project's folder."""
    sha256: Sha256 | None = None
    """The checksum that the file must have."""


class ConnectSettings(Section):
    """MSK Connect."""

    version: str = "3.7.x"
    """Kafka Connect's version, as MSK Connect names it."""
    mcu: int = 1
    """MSK Connect units of a worker: 1 vCPU and 4 GiB each."""
    workers: Annotated[int, Field(ge=1)] | None = None
    """Number of workers of each connector; or see `autoscaling`."""
    autoscaling: Autoscaling | None = None
    connectors: Literal["api", "cloudformation"] = "api"
    """The owner of the connectors. Only the API changes one in place."""
    provider: ConfigProvider
    sink: SinkSettings | None = None
    log_days: int = 14
    """Retention of logs."""


class RegistrySettings(Section):
    """An Apicurio Registry that you run: AWS manages none."""

    url: str
    """Its address, without `/apis/…`."""
    security_group: GroupId | None = None
    """Its group. The plan lets Connect and Spark into it. Or let them reach it by
    `network.allow`."""


class LakeBuckets(Section):
    """The buckets."""

    bucket: Bucket
    """Bronze and silver. Bucket names are unique in all of AWS."""
    artifacts: Bucket
    """Plugins, the Spark application, logs."""
    create: bool = True
    """`false`: the buckets exist, and are left as they are."""
    version_days: Annotated[int, Field(ge=1, le=3650)] = 3
    """Retention of replaced and deleted objects in the buckets. Spark replaces files at every
    commit, and all of them are paid for."""
    rotation_ms: Annotated[int, Field(ge=1000)] = 60_000
    """The longest time that a change waits for its bronze file."""


class EmrSettings(Section):
    """The place where Spark runs."""

    kind: Literal["serverless", "ec2"]
    """EMR Serverless, or a cluster on EC2."""
    release: str = "emr-7.13.0"
    """EMR's release."""
    hudi: Literal["lock", "release"] = "lock"
    """Whose Hudi the application uses: the lab's own jar, or the release's."""
    engine: Literal["application", "streamer", "multi-table-streamer"] = "application"
    """The writer of silver: the lab's application, or one of Hudi's streamers."""
    python: str | None = None
    """Serverless: a packed Python 3.11 environment with fastavro, below the project's folder. Make
    it on Amazon Linux 2023 with `venv-pack`."""
    instance_type: str = "m6g.xlarge"
    """Cluster on EC2: size of its machines."""
    core_instances: Annotated[int, Field(ge=1)] = 1
    """Cluster on EC2: how many machines besides the primary one."""
    driver_memory: Annotated[str, Field(pattern=r"^[1-9][0-9]*g$")] = "4g"
    """Memory of Spark's driver."""
    executor_memory: Annotated[str, Field(pattern=r"^[1-9][0-9]*g$")] = "4g"
    """Memory of each of Spark's executors."""
    executors: Annotated[int, Field(ge=1)] = 1
    """Number of executors."""
    sync_minutes: Annotated[int, Field(ge=1)] = 1
    """Pause between two rounds of a streamer."""


class GlueSettings(Section):
    """The Glue catalog. Its databases are those that the tables' properties name."""

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


HostName = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$")]
Origin = Annotated[str, Field(pattern=r"^https?://[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?$")]


class AthenaSettings(Section):
    """The workgroup in which the lake is asked."""

    scan_gib: Annotated[int, Field(ge=1, le=1_000_000)] = 10
    """Amount that one query may read; Athena stops it there."""
    result_days: Annotated[int, Field(ge=1, le=3650)] = 7
    """Retention of results."""


class ApiHosting(Section):
    """The lake API on ECS Fargate, where `[api]` switches it on."""

    cpu: Literal[256, 512, 1024, 2048, 4096] = 512
    """CPU of a task: 1024 are one vCPU."""
    memory_mib: Annotated[int, Field(ge=512, le=30720)] = 1024
    """Memory of a task. Fargate knows certain pairs of CPU and memory."""
    min_tasks: Annotated[int, Field(ge=1)] = 2
    """At least so many tasks."""
    max_tasks: Annotated[int, Field(ge=1)] = 4
    """At most so many tasks."""
    cpu_percent: Annotated[int, Field(ge=10, le=90)] = 60
    """The share of CPU time that the number of tasks is made for."""
    certificate: CertificateArn | None = None
    """ARN of the load balancer's certificate in ACM. It speaks HTTPS, and sends HTTP there."""
    plain_http: bool = False
    """True if it may do without a certificate, and speak plain HTTP within the VPC."""
    hosts: tuple[HostName, ...] = ()
    """Names of your own for the load balancer, such as its certificate's. It answers to no other
    but AWS's."""
    origins: tuple[Origin, ...] = ()
    """Origins of web pages that a browser lets read it, such as `https://app.example.com`."""
    environment: Literal["dev", "prod"] = "prod"
    """Retention of answers: 60 or 300 seconds."""
    stale_seconds: Annotated[int, Field(ge=0)] = 0
    """For how long after that an answer is still given while it is renewed."""
    cache_node: str = "cache.t4g.micro"
    """Size of a node of ElastiCache, where `[cache]` is switched on, too."""
    cache_nodes: Annotated[int, Field(ge=1, le=6)] = 2
    """Number of nodes. A single one has nothing to fail over to."""
    log_days: int = 14
    """Retention of logs."""


class AwsProfile(Section):
    """A lab on managed services."""

    runtime: Literal["aws"]
    """Runtime of the services."""
    account: AccountId
    """The account's number. `promote apply` refuses credentials of another one."""
    region: Region
    """The region."""
    prefix: Prefix = "lab"
    """Prefix of every name."""
    tags: dict[str, str] = Field(default_factory=dict)
    """Tags on everything, beside the tag that marks it as labctl's."""
    network: NetworkSettings
    rds: dict[EngineName, RdsSettings]
    msk: MskSettings
    connect: ConnectSettings
    registry: RegistrySettings
    lake: LakeBuckets
    emr: EmrSettings
    glue: GlueSettings = GlueSettings()
    athena: AthenaSettings = AthenaSettings()
    api: ApiHosting = ApiHosting()
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
        """Location of the workgroup's results."""
        return f"s3://{self.lake.bucket}/{RESULTS}/"

    def arn(self, service: str, resource: str, *, global_: bool = False) -> str:
        """Return the ARN of a resource of this account; IAM and S3 have no region (`global_`)."""
        region = "" if global_ else self.region
        account = "" if service == "s3" else self.account
        return f"arn:{self.partition}:{service}:{region}:{account}:{resource}"
