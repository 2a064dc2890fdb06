"""MSK Connect: plugins, worker configurations and, if the profile says so, the connectors."""

from __future__ import annotations

from typing import Any

from labctl.promote.aws_names import logical
from labctl.promote.cloudformation.template import Template, attribute, tag_list
from labctl.promote.msk_connectors import create_request, worker_base64, worker_name
from labctl.promote.outputs import Output
from labctl.promote.plugins import plugin_of
from labctl.promote.promotion import PromotedConnector, Promotion

__all__ = ["template"]


def template(promotion: Promotion) -> dict[str, Any]:
    built = Template(f"labctl {promotion.profile.prefix}: plugins, worker configurations")
    for connector in promotion.connectors:
        plugin = plugin_of(promotion, connector)
        plugin_id, worker_id = logical("Plugin", connector.name), logical("Worker", connector.name)
        built.add(
            plugin_id,
            "AWS::KafkaConnect::CustomPlugin",
            {
                "Name": plugin.name,
                "Description": plugin.description,
                "ContentType": "ZIP",
                "Location": {
                    "S3Location": {
                        "BucketArn": promotion.profile.arn(
                            "s3", promotion.profile.lake.artifacts, global_=True
                        ),
                        "FileKey": plugin.key,
                    }
                },
                "Tags": tag_list(promotion),
            },
        )
        built.output(plugin_id, attribute(plugin_id, "CustomPluginArn"), plugin.name)
        built.add(
            worker_id,
            "AWS::KafkaConnect::WorkerConfiguration",
            {
                "Name": worker_name(promotion, connector),
                "Description": f"Worker of {connector.name}",
                "PropertiesFileContent": worker_base64(promotion, connector),
                "Tags": tag_list(promotion),
            },
        )
        built.output(
            worker_id, attribute(worker_id, "WorkerConfigurationArn"), f"of {connector.name}"
        )
        if promotion.profile.connect.connectors == "cloudformation":
            _add_connector(built, promotion, connector)
    return built.body()


def _add_connector(built: Template, promotion: Promotion, connector: PromotedConnector) -> None:
    request = dict(create_request(promotion, connector))
    request["tags"] = tag_list(promotion)
    built.add(logical("Connector", connector.name), *_resource(built, request))


def _resource(built: Template, request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Turn an API request into a resource: capitalise names, make outputs references."""
    properties = {
        _capital(key): value if key == "connectorConfiguration" else _translate(built, value)
        for key, value in request.items()
    }
    return "AWS::KafkaConnect::Connector", properties


def _translate(built: Template, value: Any) -> Any:
    if isinstance(value, Output):
        if value.stack != "connect":
            return built.parameter(value.name, "String", f"{value.stack}'s {value.name}")
        kind = "CustomPluginArn" if value.name.startswith("Plugin") else "WorkerConfigurationArn"
        return attribute(value.name, kind)
    if isinstance(value, dict):
        return {_capital(key): _translate(built, held) for key, held in value.items()}
    if isinstance(value, list):
        return [_translate(built, held) for held in value]
    return value


def _capital(key: str) -> str:
    return key[0].upper() + key[1:]
