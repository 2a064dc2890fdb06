"""Worker configuration, capacity and CreateConnector request of each connector on MSK Connect."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any

from labctl.promote.aws_names import CREATOR_TAG, Names, logical
from labctl.promote.broker_logins import connect_authentication
from labctl.promote.outputs import Output
from labctl.promote.promotion import PromotedConnector, Promotion

__all__ = [
    "capacity",
    "create_request",
    "worker_name",
    "worker_properties",
    "worker_text",
]


def worker_properties(promotion: Promotion, connector: PromotedConnector) -> dict[str, str]:
    """Return the worker's configuration: the project's file, the provider, the offsets topic."""
    provider = promotion.profile.connect.provider
    return {
        **promotion.worker,
        "config.providers": "secretManager",
        "config.providers.secretManager.class": provider.provider_class,
        f"config.providers.secretManager.param.{provider.region_parameter}": (
            promotion.profile.region
        ),
        "offset.storage.topic": Names.of(promotion).offsets_topic(connector.name),
    }


def worker_text(promotion: Promotion, connector: PromotedConnector) -> str:
    properties = worker_properties(promotion, connector)
    return "".join(f"{key}={value}\n" for key, value in properties.items())


def worker_name(promotion: Promotion, connector: PromotedConnector) -> str:
    """Return a name that contains a digest: a worker configuration can only be replaced."""
    digest = hashlib.sha256(worker_text(promotion, connector).encode()).hexdigest()[:8]
    return f"{promotion.profile.prefix}-{Names.connector(connector.name)}-{digest}"


def worker_base64(promotion: Promotion, connector: PromotedConnector) -> str:
    return base64.b64encode(worker_text(promotion, connector).encode()).decode()


def capacity(promotion: Promotion) -> dict[str, Any]:
    """Return `autoScaling` if the profile sets it, else `provisionedCapacity`."""
    connect = promotion.profile.connect
    if scaling := connect.autoscaling:
        return {
            "autoScaling": {
                "mcuCount": connect.mcu,
                "minWorkerCount": scaling.min_workers,
                "maxWorkerCount": scaling.max_workers,
                "scaleInPolicy": {"cpuUtilizationPercentage": scaling.scale_in_percent},
                "scaleOutPolicy": {"cpuUtilizationPercentage": scaling.scale_out_percent},
            }
        }
    return {"provisionedCapacity": {"mcuCount": connect.mcu, "workerCount": connect.workers or 1}}


def create_request(promotion: Promotion, connector: PromotedConnector) -> Mapping[str, Any]:
    """Return kafkaconnect's CreateConnector request, its outputs not yet resolved."""
    profile, names = promotion.profile, Names.of(promotion)
    login = connect_authentication(profile.msk)
    return {
        "connectorName": names.connector(connector.name),
        "kafkaConnectVersion": profile.connect.version,
        "capacity": capacity(promotion),
        "connectorConfiguration": connector.file.config,
        "kafkaCluster": {
            "apacheKafkaCluster": {
                "bootstrapServers": Output("kafka", "BootstrapServers"),
                "vpc": {
                    "subnets": sorted(profile.network.subnets.values()),
                    "securityGroups": [Output("foundation", "ConnectGroup")],
                },
            }
        },
        "kafkaClusterClientAuthentication": {
            "authenticationType": "IAM" if login == "iam" else "NONE"
        },
        "kafkaClusterEncryptionInTransit": {"encryptionType": "TLS"},
        "plugins": [
            {
                "customPlugin": {
                    "customPluginArn": Output("connect", logical("Plugin", connector.name)),
                    "revision": 1,
                }
            }
        ],
        "workerConfiguration": {
            "workerConfigurationArn": Output("connect", logical("Worker", connector.name)),
            "revision": 1,
        },
        "serviceExecutionRoleArn": Output("foundation", "ConnectRole"),
        "logDelivery": {
            "workerLogDelivery": {"cloudWatchLogs": {"enabled": True, "logGroup": names.log_group}}
        },
        "tags": {**profile.tags, CREATOR_TAG: names.creator},
    }
