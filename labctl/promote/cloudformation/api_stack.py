"""The lake API: its tasks on ECS Fargate behind a load balancer, and ElastiCache.

All of it is in the private subnets. The parts that outlive it (image, roles, secret, log) are in
`foundation`.
"""

from __future__ import annotations

from typing import Any

from labctl.promote.api_image import image
from labctl.promote.aws_names import Names
from labctl.promote.cloudformation.api_policies import LOG_STREAMS, start_policies, task_policies
from labctl.promote.cloudformation.policies import trust
from labctl.promote.cloudformation.template import Json, Template, attribute, ref, tag_list
from labctl.promote.lake_api_settings import environment, setting_name
from labctl.promote.network_connections import API_PORT, CACHE_PORT, HTTP, HTTPS, listener_ports
from labctl.promote.promotion import Promotion
from labctl.services.api_service import ALIVE

__all__ = ["TLS_POLICY", "add_api_foundation", "template"]

GROUP = "AWS::EC2::SecurityGroup::Id"
CACHE_ENGINE, CACHE_VERSION = "valkey", "8.0"
TLS_POLICY = "ELBSecurityPolicy-TLS13-1-2-Res-2021-06"
"""TLS 1.3 and 1.2, only with forward secrecy and authenticated encryption."""
LISTENERS = {HTTP: "Listener", HTTPS: "HttpsListener"}
"""Logical names of the load balancer's listeners by port."""
DRAIN_SECONDS = 30
"""Seconds in which a stopping task may still answer earlier requests."""


def add_api_foundation(built: Template, promotion: Promotion) -> None:
    """Add the resources that exist before the service and stay after its removal."""
    names, profile = Names.of(promotion), promotion.profile
    tags = tag_list(promotion)
    built.add(
        "ApiImages",
        "AWS::ECR::Repository",
        {
            "RepositoryName": names.api,
            # A tag is derived from its image's content.
            "ImageTagMutability": "IMMUTABLE",
            "ImageScanningConfiguration": {"ScanOnPush": True},
            "EmptyOnDelete": True,
            "Tags": tags,
        },
    )
    built.add(
        "ApiLogs",
        "AWS::Logs::LogGroup",
        {
            "LogGroupName": names.api_log_group,
            "RetentionInDays": profile.api.log_days,
            "Tags": tags,
        },
    )
    if promotion.config.cache.enabled:
        built.add(
            "CacheSecret",
            "AWS::SecretsManager::Secret",
            {
                "Name": names.cache_secret,
                "Description": f"Password of the lake API's cache of {profile.prefix}",
                # ElastiCache accepts few characters besides letters and digits.
                "GenerateSecretString": {"PasswordLength": 64, "ExcludePunctuation": True},
                "Tags": tags,
            },
        )
        built.output("CacheSecret", ref("CacheSecret"), "Password of the lake API's cache")
    for output, role, policies in (
        ("ApiRole", names.api, task_policies),
        ("ApiStartRole", names.api_start_role, start_policies),
    ):
        built.add(
            output,
            "AWS::IAM::Role",
            {
                "RoleName": role,
                "AssumeRolePolicyDocument": trust("ecs-tasks.amazonaws.com", profile.account),
                "Policies": policies(promotion),
                "Tags": tags,
            },
        )
        built.output(output, attribute(output, "Arn"), f"Role {role}")


def template(promotion: Promotion) -> dict[str, Any]:
    built = Template(f"labctl {promotion.profile.prefix}: the lake API and its cache")
    if promotion.config.cache.enabled:
        _add_cache(built, promotion)
    _add_balancer(built, promotion)
    _add_service(built, promotion)
    _add_scaling(built, promotion)
    return built.body()


def _subnets(promotion: Promotion) -> list[str]:
    return sorted(promotion.profile.network.subnets.values())


def _add_cache(built: Template, promotion: Promotion) -> None:
    name, nodes = Names.of(promotion).api, promotion.profile.api.cache_nodes
    built.parameter("CacheSecret", "String", "ARN of its password's secret")
    built.add(
        "CacheSubnets",
        "AWS::ElastiCache::SubnetGroup",
        {
            "CacheSubnetGroupName": name,
            "Description": f"Private subnets of {promotion.profile.prefix}",
            "SubnetIds": _subnets(promotion),
            "Tags": tag_list(promotion),
        },
    )
    built.add(
        "Cache",
        "AWS::ElastiCache::ReplicationGroup",
        {
            "ReplicationGroupId": name,
            "ReplicationGroupDescription": f"Answers of the lake API of {promotion.profile.prefix}",
            "Engine": CACHE_ENGINE,
            "EngineVersion": CACHE_VERSION,
            "CacheNodeType": promotion.profile.api.cache_node,
            "NumCacheClusters": nodes,
            "AutomaticFailoverEnabled": nodes > 1,
            "MultiAZEnabled": nodes > 1,
            "TransitEncryptionEnabled": True,
            "AtRestEncryptionEnabled": True,
            # CloudFormation itself inserts the password: no template or request contains it.
            "AuthToken": {"Fn::Sub": "{{resolve:secretsmanager:${CacheSecret}:SecretString}}"},
            "CacheSubnetGroupName": ref("CacheSubnets"),
            "SecurityGroupIds": [built.parameter("CacheGroup", GROUP, "Group of the cache")],
            "Port": CACHE_PORT,
            # The lake API queries lost answers again.
            "SnapshotRetentionLimit": 0,
            "Tags": tag_list(promotion),
        },
    )


def _add_balancer(built: Template, promotion: Promotion) -> None:
    name, certificate = Names.of(promotion).api, promotion.profile.api.certificate
    built.add(
        "Balancer",
        "AWS::ElasticLoadBalancingV2::LoadBalancer",
        {
            "Name": name,
            "Type": "application",
            "Scheme": "internal",
            "Subnets": _subnets(promotion),
            "SecurityGroups": [built.parameter("BalancerGroup", GROUP, "Group of the balancer")],
            "LoadBalancerAttributes": [
                {"Key": "routing.http.drop_invalid_header_fields.enabled", "Value": "true"}
            ],
            "Tags": tag_list(promotion),
        },
    )
    built.add(
        "Targets",
        "AWS::ElasticLoadBalancingV2::TargetGroup",
        {
            "Name": name,
            "TargetType": "ip",
            "Protocol": "HTTP",
            "Port": API_PORT,
            "VpcId": promotion.profile.network.vpc,
            # This path does not check the lake: while the lake is down, ECS would otherwise replace
            # every task, and no task could answer from the cache.
            "HealthCheckPath": ALIVE,
            "HealthCheckIntervalSeconds": 15,
            "HealthCheckTimeoutSeconds": 5,
            "HealthyThresholdCount": 2,
            "UnhealthyThresholdCount": 3,
            "Matcher": {"HttpCode": "200"},
            "TargetGroupAttributes": [
                {"Key": "deregistration_delay.timeout_seconds", "Value": str(DRAIN_SECONDS)}
            ],
            "Tags": tag_list(promotion),
        },
    )
    forward = {"Type": "forward", "TargetGroupArn": ref("Targets")}
    if certificate:
        to_https = {"Protocol": "HTTPS", "Port": str(HTTPS), "StatusCode": "HTTP_301"}
        _add_listener(built, HTTP, {"Type": "redirect", "RedirectConfig": to_https})
        _add_listener(built, HTTPS, forward, certificate)
    else:
        _add_listener(built, HTTP, forward)
    url = {"Fn::Sub": f"{'https' if certificate else 'http'}://${{Balancer.DNSName}}"}
    built.output("ApiUrl", url, "Where the lake API answers, within the VPC")


def _add_listener(built: Template, port: int, action: Json, certificate: str | None = None) -> None:
    properties: Json = {
        "LoadBalancerArn": ref("Balancer"),
        "Port": port,
        "Protocol": "HTTP",
        "DefaultActions": [action],
    }
    if certificate:
        properties |= {
            "Protocol": "HTTPS",
            "SslPolicy": TLS_POLICY,
            "Certificates": [{"CertificateArn": certificate}],
        }
    # Each logical name keeps its port: during a stack update, two listeners on one port collide.
    built.add(LISTENERS[port], "AWS::ElasticLoadBalancingV2::Listener", properties)


def _add_service(built: Template, promotion: Promotion) -> None:
    name, tags = Names.of(promotion).api, tag_list(promotion)
    built.add("Cluster", "AWS::ECS::Cluster", {"ClusterName": name, "Tags": tags})
    built.add(
        "Task",
        "AWS::ECS::TaskDefinition",
        {
            "Family": name,
            "RequiresCompatibilities": ["FARGATE"],
            "NetworkMode": "awsvpc",
            "Cpu": str(promotion.profile.api.cpu),
            "Memory": str(promotion.profile.api.memory_mib),
            "RuntimePlatform": {"CpuArchitecture": "X86_64", "OperatingSystemFamily": "LINUX"},
            "TaskRoleArn": built.parameter("ApiRole", "String", "Role of the tasks"),
            "ExecutionRoleArn": built.parameter("ApiStartRole", "String", "Role that starts them"),
            "ContainerDefinitions": [_container(promotion)],
            "Tags": tags,
        },
    )
    built.add(
        "Service",
        "AWS::ECS::Service",
        {
            "ServiceName": name,
            "Cluster": ref("Cluster"),
            "TaskDefinition": ref("Task"),
            "LaunchType": "FARGATE",
            # Scaling sets the number of tasks: a number here would reset it.
            "NetworkConfiguration": {
                "AwsvpcConfiguration": {
                    "AssignPublicIp": "DISABLED",
                    "Subnets": _subnets(promotion),
                    "SecurityGroups": [built.parameter("ApiGroup", GROUP, "Group of the tasks")],
                }
            },
            "LoadBalancers": [
                {
                    "ContainerName": name,
                    "ContainerPort": API_PORT,
                    "TargetGroupArn": ref("Targets"),
                }
            ],
            "DeploymentConfiguration": {
                "MinimumHealthyPercent": 100,
                "MaximumPercent": 200,
                # If a version does not start, ECS ends the update instead of retrying for hours.
                "DeploymentCircuitBreaker": {"Enable": True, "Rollback": True},
            },
            "HealthCheckGracePeriodSeconds": 60,
            "PropagateTags": "SERVICE",
            "Tags": tags,
        },
        # ECS refuses a target group that no load balancer uses.
        after=[LISTENERS[listener_ports(promotion)[-1]]],
    )


def _container(promotion: Promotion) -> Json:
    names = Names.of(promotion)
    told = environment(promotion, attribute("Cache", "PrimaryEndPoint.Address"), "Balancer")
    container: Json = {
        "Name": names.api,
        "Image": image(promotion),
        "Essential": True,
        "LinuxParameters": {"InitProcessEnabled": True},
        "PortMappings": [{"ContainerPort": API_PORT}],
        "Environment": [{"Name": name, "Value": value} for name, value in told.items()],
        "StopTimeout": DRAIN_SECONDS,
        "LogConfiguration": {
            "LogDriver": "awslogs",
            "Options": {
                "awslogs-group": names.api_log_group,
                "awslogs-region": promotion.profile.region,
                "awslogs-stream-prefix": LOG_STREAMS,
            },
        },
    }
    if promotion.config.cache.enabled:
        password = {"Name": setting_name("redis_password"), "ValueFrom": ref("CacheSecret")}
        container["Secrets"] = [password]
    return container


def _add_scaling(built: Template, promotion: Promotion) -> None:
    api = promotion.profile.api
    built.add(
        "Scaling",
        "AWS::ApplicationAutoScaling::ScalableTarget",
        {
            "ServiceNamespace": "ecs",
            "ScalableDimension": "ecs:service:DesiredCount",
            "ResourceId": {"Fn::Sub": "service/${Cluster}/${Service.Name}"},
            "MinCapacity": api.min_tasks,
            "MaxCapacity": api.max_tasks,
        },
    )
    built.add(
        "ScalingByCpu",
        "AWS::ApplicationAutoScaling::ScalingPolicy",
        {
            "PolicyName": Names.of(promotion).api,
            "PolicyType": "TargetTrackingScaling",
            "ScalingTargetId": ref("Scaling"),
            "TargetTrackingScalingPolicyConfiguration": {
                "PredefinedMetricSpecification": {
                    "PredefinedMetricType": "ECSServiceAverageCPUUtilization"
                },
                "TargetValue": api.cpu_percent,
            },
        },
    )
