"""The README's section on querying the lake: the workgroup, the views, Lake Formation."""

from __future__ import annotations

from collections.abc import Iterator

from labctl.promote.aws_names import Names
from labctl.promote.promotion import Promotion

__all__ = ["sql_lines"]


def sql_lines(promotion: Promotion) -> Iterator[str]:
    """Yield the Markdown lines."""
    profile = promotion.profile
    yield "## Asking the lake"
    yield (
        f"Athena's workgroup `{profile.workgroup}` stops a query that has read "
        f"{profile.athena.scan_gib} GiB. Its results are in `{profile.results}`, and are deleted "
        f"after {profile.athena.result_days} days. So are the files of tables that a CTAS in it "
        "makes, since Athena puts them there, too: the table is empty then."
    )
    if not profile.lake.create:
        yield ""
        yield (
            f"The bucket `{profile.lake.bucket}` is there already and is left as it is: give it a "
            "lifecycle rule for that folder yourself, or results stay. A policy that denies "
            "requests without TLS, versioning, and a rule that removes old versions are yours to "
            "give, too."
        )
    yield ""
    yield (
        f"The policy `{profile.workgroup}` is for those who ask: attach it to their role. It lets "
        f"them read {_named((*promotion.databases, *promotion.view_databases))}."
    )
    yield ""
    if promotion.lake_views or promotion.lake_queries:
        databases = sorted({view.database for view in promotion.lake_views})
        if databases:
            yield (
                f"`gold/` has views of {_named(databases)}. They are made once Spark has committed "
                "to each table that they read."
            )
        if promotion.lake_queries:
            names = [query.full_name for query in promotion.lake_queries]
            yield f"`queries/` has statements that the workgroup keeps: {_named(names)}."
        yield "One command makes all of them, and again what has changed in their files:"
        yield ""
        yield f"    labctl --profile {promotion.profile_name} catalog apply"
        yield ""
    yield from _lake_formation(promotion)


def _lake_formation(promotion: Promotion) -> Iterator[str]:
    names, profile = Names.of(promotion), promotion.profile
    role = profile.arn("iam", f"role/{names.spark_role}", global_=True)
    location = profile.arn("s3", profile.lake.bucket, global_=True)
    yield "### Where Lake Formation governs the catalogue"
    yield (
        "The plan leaves Lake Formation alone. Where the account's new databases are not under IAM "
        "alone, grant there, too:"
    )
    yield ""
    yield "| to | on | permissions |"
    yield "| --- | --- | --- |"
    yield (
        f"| `{role}` | {_named(promotion.databases)}, and their tables | `CREATE_TABLE`, `ALTER`, "
        "`DROP`, `DESCRIBE` |"
    )
    yield f"| the same | `{location}`, if it is registered | `DATA_LOCATION_ACCESS` |"
    if promotion.view_databases:
        yield (
            f"| whoever applies the views | {_named(promotion.view_databases)} | `CREATE_TABLE`, "
            "`ALTER`, `DROP`, `DESCRIBE` |"
        )
    yield "| those who ask | the tables, and the views over them | `SELECT`, `DESCRIBE` |"
    yield ""
    yield (
        "If the bucket is registered, they need IAM's `lakeformation:GetDataAccess`, too. It knows "
        "no resource, so it is not in the plan's policy."
    )
    yield ""


def _named(databases: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"`{database}`" for database in databases)
