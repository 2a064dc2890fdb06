"""The Spark application on EMR: its command line and the step or job run that starts it."""

from __future__ import annotations

from typing import Any

from labctl.promote.artifacts import (
    ARCHIVE,
    LOGS,
    application,
    jar_uploads,
    own_jars,
    project_archive,
    python_package,
    url,
)
from labctl.promote.aws_names import CREATOR_TAG, Names
from labctl.promote.broker_logins import connect_authentication, java_client
from labctl.promote.hudi_overrides import catalog, overrides
from labctl.promote.outputs import Output
from labctl.promote.promotion import Promotion
from labctl.services.silver_service import SPARK_DEFAULTS
from labctl.shipped import own_or_shipped
from lakecontract.options import JVM_PROPERTIES, KAFKA_CONF_PREFIX, Options

__all__ = ["Argument", "application_arguments", "environment_key", "spark_conf", "work_items"]

Argument = str | Output
BOOTSTRAP = Output("kafka", "BootstrapServers")
PYTHON = "/usr/bin/python3.11"
_PLACEHOLDER = "bootstrap.servers.invalid"


def spark_conf(promotion: Promotion) -> dict[str, str]:
    """Return the project's `spark-defaults.conf`, overridden by the profile's values."""
    return _shared(promotion) | _own(promotion)


def _shared(promotion: Promotion) -> dict[str, str]:
    text = own_or_shipped(promotion.project, SPARK_DEFAULTS).read_text(encoding="utf-8")
    pairs = (line.split(None, 1) for line in text.splitlines() if line and line[0] not in "# ")
    return {pair[0]: pair[1].strip() for pair in pairs if len(pair) == 2}


_JAVA_OPTIONS = " ".join(
    f"-D{name}={value}" for name, value in {"user.timezone": "UTC", **JVM_PROPERTIES}.items()
)


def _own(promotion: Promotion) -> dict[str, str]:
    emr = promotion.profile.emr
    values = {
        "spark.driver.memory": emr.driver_memory,
        "spark.executor.memory": emr.executor_memory,
        "spark.executor.instances": str(emr.executors),
        "spark.dynamicAllocation.enabled": "false",
        "spark.driver.extraJavaOptions": _JAVA_OPTIONS,
        "spark.executor.extraJavaOptions": _JAVA_OPTIONS,
        "spark.yarn.maxAppAttempts": "10",
    }
    if emr.engine == "application":
        client = java_client(connect_authentication(promotion.profile.msk))
        values |= {f"{KAFKA_CONF_PREFIX}{key}": value for key, value in client.items()}
    if emr.kind == "serverless":
        del values["spark.yarn.maxAppAttempts"]
        python = "./environment/bin/python"
        values |= {
            "spark.emr-serverless.driverEnv.PYSPARK_DRIVER_PYTHON": python,
            "spark.emr-serverless.driverEnv.PYSPARK_PYTHON": python,
            "spark.executorEnv.PYSPARK_PYTHON": python,
            "spark.hadoop.hive.metastore.client.factory.class": (
                "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
            ),
        }
    else:
        values |= {"spark.pyspark.python": PYTHON, "spark.pyspark.driver.python": PYTHON}
    return values


def environment_key() -> str:
    """Return the key of the packed Python environment in the artifacts bucket."""
    return "spark/environment.tar.gz"


def application_arguments(promotion: Promotion) -> list[Argument]:
    """Return the application's own command line, built by the application's own code."""
    lake = f"s3://{promotion.profile.lake.bucket}"
    writes_bronze = promotion.profile.connect.sink is None
    options = Options(
        properties=tuple(f"{ARCHIVE}/{f}" for f in promotion.config.silver.properties),
        bootstrap_servers=_PLACEHOLDER,
        registry_url=promotion.profile.registry.url.rstrip("/"),
        target_base_path=f"{lake}/silver",
        bronze_base_path=lake,
        checkpoint_base_path=f"{lake}/checkpoints",
        tables=tuple(table.name for table in promotion.tables),
        source=promotion.config.silver.source,
        sink_configs=tuple(
            f"{ARCHIVE}/connectors/{sink.file.path.name}" for sink in promotion.sinks
        )
        if writes_bronze
        else (),
        secrets_dir=f"{ARCHIVE}/references" if writes_bronze else None,
        catalog=catalog(promotion),
        retention_seconds=promotion.config.lake.retention_seconds,
        hoodie_conf=overrides(promotion),
    )
    argument = f"--bootstrap-servers={_PLACEHOLDER}"
    plain = options.argv()
    at = plain.index(argument)
    return [*plain[:at], "--bootstrap-servers", BOOTSTRAP, *plain[at + 1 :]]


def submit_options(promotion: Promotion) -> list[str]:
    """Return the options of `spark-submit` before the application: configuration, jars, files."""
    archives = [f"{url(promotion, project_archive(promotion))}#{ARCHIVE}"]
    if promotion.profile.emr.kind == "serverless":
        bucket = promotion.profile.lake.artifacts
        archives.append(f"s3://{bucket}/{environment_key()}#environment")
    jars = [url(promotion, jar) for jar in (*jar_uploads(promotion, None), *own_jars(promotion))]
    if promotion.profile.emr.hudi == "release":
        jars += ["/usr/lib/hudi/hudi-spark-bundle.jar", "/usr/lib/hudi/hudi-aws-bundle.jar"]
    conf = [part for key, value in spark_conf(promotion).items() for part in conf_pair(key, value)]
    return [
        *conf,
        "--jars",
        ",".join(jars),
        "--py-files",
        url(promotion, python_package(promotion)),
        "--archives",
        ",".join(archives),
    ]


def conf_pair(key: str, value: str) -> list[str]:
    return ["--conf", f"{key}={value}"]


def work_items(promotion: Promotion) -> list[dict[str, Any]]:
    """Return the request that starts the application: one step or one job run."""
    name = Names.of(promotion).application
    entry = url(promotion, application(promotion))
    arguments = application_arguments(promotion)
    if promotion.profile.emr.kind == "serverless":
        return [job_run(promotion, name, entry, arguments, submit_options(promotion))]
    return [step(name, [*submit_options(promotion), entry, *arguments])]


def step(name: str, arguments: list[Argument]) -> dict[str, Any]:
    """Return a step of EMR on EC2. Its driver runs in the cluster."""
    return {
        "Name": name,
        "ActionOnFailure": "CONTINUE",
        "HadoopJarStep": {
            "Jar": "command-runner.jar",
            "Args": ["spark-submit", "--deploy-mode", "cluster", *arguments],
        },
    }


def job_run(
    promotion: Promotion, name: str, entry: str, arguments: list[Argument], options: list[str]
) -> dict[str, Any]:
    """Return a job run of EMR Serverless."""
    return {
        "applicationId": Output("spark", "ApplicationId"),
        "executionRoleArn": Output("foundation", "SparkRole"),
        "name": name,
        "mode": "STREAMING",
        "jobDriver": {
            "sparkSubmit": {
                "entryPoint": entry,
                "entryPointArguments": arguments,
                "sparkSubmitParameters": " ".join(map(_quoted, options)),
            }
        },
        "configurationOverrides": {
            "monitoringConfiguration": {
                "s3MonitoringConfiguration": {
                    "logUri": f"s3://{promotion.profile.lake.artifacts}/{LOGS}/serverless/"
                }
            }
        },
        "tags": {**promotion.profile.tags, CREATOR_TAG: Names.of(promotion).creator},
    }


def _quoted(option: str) -> str:
    """Quote an option with spaces; EMR Serverless splits the line at spaces outside quotes."""
    return f'"{option}"' if " " in option else option
