"""Third-party validators of the rendered plan: cfn-lint and botocore's request models."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from labctl.extras import require_extra
from labctl.promote.outputs import outputs_in, resolve
from labctl.promote.plan import as_json
from labctl.promote.rules.rule import Finding, Subject, rule

__all__: list[str] = []

_ONE_OF = {"capacity": ("autoScaling", "provisionedCapacity")}


@rule
def templates_lint(subject: Subject) -> Iterator[Finding]:
    """Yield cfn-lint's errors and warnings, with the schemas of the profile's region."""
    require_extra("promote")
    from cfnlint.decode import decode_str

    linter = _linter(subject.promotion.profile.region)
    for stack, template in subject.plan.templates.items():
        decoded, errors = decode_str(as_json(template).decode())
        for match in errors or linter.validate_template(decoded):
            path = ".".join(map(str, match.path)) if match.path else "(template)"
            yield Finding(
                f"cloudformation/{stack}.json",
                path,
                f"{match.message} ({match.rule.id})",
                "correct the value in the profile that it comes from",
            )


@cache
def _linter(region: str) -> Any:
    """Return cfn-lint with its default rules. Loading them takes ten times longer than linting."""
    from cfnlint.config import ConfigMixIn
    from cfnlint.runner import Runner

    return Runner(ConfigMixIn(regions=[region]))


@rule
def requests_fit(subject: Subject) -> Iterator[Finding]:
    """Check that requests have the members and types of their service's model."""
    for name, request in subject.plan.connectors.items():
        file = f"payloads/connectors/{name}.json"
        yield from _check(file, "kafkaconnect", "CreateConnector", request)
        for key, choices in _ONE_OF.items():
            if sum(choice in request[key] for choice in choices) != 1:
                yield Finding(file, key, f"exactly one of {', '.join(choices)}", "remove one")
        for key, value in request["connectorConfiguration"].items():
            if not isinstance(value, str):
                yield Finding(file, key, f"{value!r} is no string", "write it in quotes")
    for item in subject.plan.work:
        name = item.get("Name") or item["name"]
        file = f"payloads/spark/{name}.json"
        if "HadoopJarStep" in item:
            request = {"JobFlowId": "j-0", "Steps": [item]}
            yield from _check(file, "emr", "AddJobFlowSteps", request)
        else:
            yield from _check(file, "emr-serverless", "StartJobRun", item)


def _check(file: str, service: str, operation: str, request: Any) -> Iterator[Finding]:
    from botocore.loaders import Loader
    from botocore.model import ServiceModel
    from botocore.validate import ParamValidator

    model = ServiceModel(Loader().load_service_model(service, "service-2"))
    shape = model.operation_model(operation).input_shape
    assert shape is not None  # noqa: S101 - each of these operations takes something
    complete = resolve(request, _Anything(request))
    if "clientToken" in shape.members:
        complete = {"clientToken": "0", **complete}
    report = ParamValidator().validate(complete, shape)
    for line in report.generate_report().splitlines():
        yield Finding(file, operation, line, "correct the value in the profile that it comes from")


class _Anything(dict[str, dict[str, str]]):
    """Placeholder outputs for a request whose stacks do not exist yet."""

    def __init__(self, request: Any) -> None:
        super().__init__()
        for output in outputs_in(request):
            self.setdefault(output.stack, {})[output.name] = "arn:aws:service:region:account:name"
