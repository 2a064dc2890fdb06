"""The plan's own README: its resources, their creation order and what AWS bills."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.promote.api_image import API_IMAGE
from labctl.promote.aws_names import CREATOR_TAG, Names
from labctl.promote.connector_secrets import referenced, secret_of_source
from labctl.promote.costs import billed_resources
from labctl.promote.plugins import plugin_of
from labctl.promote.promotion import Promotion
from labctl.promote.rds import parameters
from labctl.promote.readme_api import api_lines
from labctl.promote.readme_sql import sql_lines
from labctl.sources import ENGINES

__all__ = ["render_readme"]


def render_readme(promotion: Promotion, templates: dict[str, dict[str, object]]) -> str:
    """Return the README as Markdown for a reviewer."""
    sections = (
        _head(promotion),
        _order(promotion, templates),
        _databases(promotion),
        _connectors(promotion),
        _secrets(promotion),
        sql_lines(promotion),
        api_lines(promotion),
        _costs(promotion),
        _layout(promotion),
    )
    return "\n".join(line for section in sections for line in section) + "\n"


def _head(promotion: Promotion) -> Iterator[str]:
    profile, names = promotion.profile, Names.of(promotion)
    yield f"# Plan: {promotion.config.name} on AWS, profile {promotion.profile_name}"
    yield ""
    yield (
        f"Account {profile.account}, region {profile.region}. Rendered from `lab.toml`, "
        "`connectors/` and `spark/`; the same input gives the same bytes. Everything it makes is "
        f"tagged `{CREATOR_TAG}={names.creator}`, and what lacks that tag is never changed."
    )
    yield ""


def _order(promotion: Promotion, templates: dict[str, dict[str, object]]) -> Iterator[str]:
    names = Names.of(promotion)
    yield "## What is made, in this order"
    yield "| stack | resources |"
    yield "| --- | --- |"
    for stack, template in templates.items():
        resources = template["Resources"]
        assert isinstance(resources, dict)  # noqa: S101 - a template is ours
        kinds: dict[str, int] = {}
        for resource in resources.values():
            kinds[resource["Type"]] = kinds.get(resource["Type"], 0) + 1
        counted = ", ".join(
            f"{kind.removeprefix('AWS::')}" + (f" x{count}" if count > 1 else "")
            for kind, count in kinds.items()
        )
        yield f"| `{names.stack(stack)}` | {counted} |"  # type: ignore[arg-type]
    yield ""
    yield "Then, through AWS's APIs:"
    yield ""
    yield "1. after `foundation`: the files of `artifacts.json` are uploaded;"
    yield "2. after `data`: addresses are put into the secrets; **you run the SQL below**;"
    owner = promotion.profile.connect.connectors
    if owner == "api":
        yield "3. after `connect`: connectors are made or changed (`payloads/connectors`);"
    else:
        yield "3. with `connect`: the connectors themselves;"
    yield "4. after `spark`: the application is started (`payloads/spark`)."
    if promotion.config.api.enabled:
        yield "5. before `api`: **you build and push the image** of the lake API, as below."
    yield ""


def _databases(promotion: Promotion) -> Iterator[str]:
    yield "## SQL to run, once"
    yield (
        "The connector's password comes from the environment, where other users do not see it: "
        "`read -rs CDC_PASSWORD && export CDC_PASSWORD`. psql must be of version 14 or later."
    )
    for source, database in promotion.captured.items():
        engine = promotion.config.sources[source].engine
        where = f"`{database.instance}`, password in `{secret_of_source(promotion, source)}`"
        yield ""
        if database.create:
            yield f"Source {source}, {engine} on {where}, which the plan makes:"
        else:
            group = Names.of(promotion).parameter_group(engine)
            attach = (
                ""
                if not parameters(promotion, engine)
                else f" Attach the parameter group `{group}` to it and restart it first."
            )
            yield (
                f"Source {source}, {engine} on {where}, which exists and is left as it is.{attach}"
            )
        yield ""
        yield f"    {ENGINES[engine].sql_client.format(file=f'sql/{source}.sql')}"
    yield ""


def _connectors(promotion: Promotion) -> Iterator[str]:
    yield "## Connectors"
    yield "The files in `connectors/` are the project's, byte for byte."
    yield ""
    yield "| connector | plugin |"
    yield "| --- | --- |"
    for connector in promotion.connectors:
        yield f"| {connector.name} | {plugin_of(promotion, connector).description} |"
    yield ""


def _secrets(promotion: Promotion) -> Iterator[str]:
    yield "## Secrets"
    yield "| name | keys |"
    yield "| --- | --- |"
    for name, keys in referenced(promotion).items():
        yield f"| `{name}` | {', '.join(sorted(keys))} |"
    yield ""
    yield (
        "Passwords are made by Secrets Manager and RDS. None is in this folder, in a template's "
        "parameters or in labctl's output."
    )
    yield ""


def _costs(promotion: Promotion) -> Iterator[str]:
    yield "## What AWS bills while it exists"
    yield "| what | count |"
    yield "| --- | ---: |"
    for what, count in billed_resources(promotion):
        yield f"| {what} | {count} |"
    yield ""
    yield (
        "Storage, traffic and requests come on top. For the amounts, enter these resources and "
        f"the region {promotion.profile.region} into AWS's calculator: https://calculator.aws/"
    )
    yield ""


def _layout(promotion: Promotion) -> Iterator[str]:
    yield "## Files"
    if promotion.config.api.enabled:
        yield f"- `{API_IMAGE}/` what the lake API's image is built of"
    for path, what in (
        ("cloudformation/", "one template a stack"),
        ("connectors/", "the connector files, unchanged"),
        ("worker/", "worker configuration of each connector"),
        ("payloads/connectors/", "requests of MSK Connect's CreateConnector"),
        ("payloads/spark/", "EMR steps, or job runs of EMR Serverless"),
        ("sql/", "one script an engine"),
        ("gold/", "the views, unchanged"),
        ("queries/", "named queries and prepared statements, unchanged"),
        ("spark/", "the properties files, and the command line that `spark-submit` gets"),
        ("artifacts.json", "what is uploaded, to which key"),
        ("artifacts/", "those files, plugin ZIPs among them; absent with --without-artifacts"),
    ):
        yield f"- `{path}` {what}"
    yield ""
    yield (
        'An object `{"Output": "data.ClusterArn"}` stands for a value that exists once that stack '
        "does; apply puts it in."
    )
