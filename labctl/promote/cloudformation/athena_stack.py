"""Querying the lake: Athena's workgroup, the catalogue's databases, and the readers' policy."""

from __future__ import annotations

from labctl.config.aws import RESULTS
from labctl.promote.aws_names import logical
from labctl.promote.cloudformation.policies import reader_policy
from labctl.promote.cloudformation.template import Json, Template, ref, tag_list
from labctl.promote.promotion import Promotion

__all__ = ["add_athena", "add_catalog", "results_rule"]

ENGINE = "Athena engine version 3"


def add_catalog(built: Template, promotion: Promotion) -> None:
    """Add the databases of silver's tables and of the views over them."""
    lake = f"s3://{promotion.profile.lake.bucket}/silver"
    for database in promotion.databases:
        text = f"Silver tables of {promotion.profile.prefix}"
        _add_database(
            built,
            promotion,
            {"Name": database, "Description": text, "LocationUri": f"{lake}/{database}"},
        )
    for database in promotion.view_databases:
        text = f"Views over silver of {promotion.profile.prefix}"
        _add_database(built, promotion, {"Name": database, "Description": text})


def _add_database(built: Template, promotion: Promotion, database: Json) -> None:
    built.add(
        f"Catalog{database['Name'].title().replace('_', '')}",
        "AWS::Glue::Database",
        {"CatalogId": promotion.profile.account, "DatabaseInput": database},
    )


def add_athena(built: Template, promotion: Promotion) -> None:
    """Add the workgroup and a policy for the people who query in it."""
    profile = promotion.profile
    built.add(
        "Workgroup",
        "AWS::Athena::WorkGroup",
        {
            "Name": profile.workgroup,
            "Description": f"Questions to the lake of {profile.prefix}",
            # CloudFormation deletes named queries and prepared statements with it.
            "RecursiveDeleteOption": True,
            "WorkGroupConfiguration": {
                # A client's own settings of engine and results are ignored.
                "EnforceWorkGroupConfiguration": True,
                "EngineVersion": {"SelectedEngineVersion": ENGINE},
                "BytesScannedCutoffPerQuery": profile.athena.scan_gib * 1024**3,
                "PublishCloudWatchMetricsEnabled": False,
                "ResultConfiguration": {"OutputLocation": profile.results},
            },
            "Tags": tag_list(promotion),
        },
    )
    name = logical("readers", "policy")
    built.add(
        name,
        "AWS::IAM::ManagedPolicy",
        {
            "ManagedPolicyName": profile.workgroup,
            "Description": f"Asking the lake of {profile.prefix} in the workgroup of that name",
            "PolicyDocument": reader_policy(promotion),
        },
    )
    built.output(name, ref(name), "Policy of those who ask the lake")


def results_rule(promotion: Promotion) -> Json:
    """Return the lake bucket's lifecycle rule, which expires results and their old versions."""
    return {
        "Id": "athena-results",
        "Status": "Enabled",
        "Prefix": f"{RESULTS}/",
        "ExpirationInDays": promotion.profile.athena.result_days,
        "NoncurrentVersionExpiration": {"NoncurrentDays": 1},
    }
