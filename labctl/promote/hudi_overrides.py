"""Hudi's properties on AWS: the values that override the tables' own files."""

from __future__ import annotations

from labctl.promote.emr import Release, release_of
from labctl.promote.promotion import Promotion
from lakecontract.options import GLUE, GLUE_SYNC_TOOL, HIVE

__all__ = ["ATHENA_TABLE_VERSION", "catalog", "hudi_version", "overrides"]

ATHENA_TABLE_VERSION = "6"
"""The version that Hudi 0.14 and 0.15 write and Athena reads; Hudi 1.x's default is 8 or 9."""
_ORDERING_FIELDS_SINCE = (1, 1)
"""First Hudi with `hoodie.table.ordering.fields`; before, it was `…precombine.field`."""


def hudi_version(promotion: Promotion) -> tuple[int, ...]:
    """Return the version of Hudi that the engine runs with; empty for an unknown release."""
    emr = promotion.profile.emr
    if emr.engine == "application" and emr.hudi == "lock":
        version = next(
            file.version
            for file in promotion.lock.artifacts["spark-packages"].files  # type: ignore[union-attr]
            if file.name.startswith("org.apache.hudi:")
        )
        return tuple(int(part) for part in version.split("."))
    release: Release | None = release_of(emr.release)
    return release.hudi if release else ()


def overrides(promotion: Promotion) -> dict[str, str]:
    """Return the `hoodie.*` values that override every table's own file."""
    profile = promotion.profile
    values: dict[str, str] = {}
    version = hudi_version(promotion)
    if profile.glue.athena and version >= (1,):
        values |= {
            "hoodie.write.table.version": ATHENA_TABLE_VERSION,
            "hoodie.write.auto.upgrade": "false",
            # In this table version the payload class decides the order of a key's changes.
            "hoodie.datasource.write.payload.class": (
                "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
            ),
        }
    ordering = {table.properties.ordering_field for table in promotion.tables}
    if version < _ORDERING_FIELDS_SINCE and len(ordering) == 1:
        values["hoodie.datasource.write.precombine.field"] = ordering.pop()
    if profile.emr.engine != "application":
        # The application registers its tables itself (see `catalog`), in parallel to its commits.
        values |= {
            "hoodie.datasource.hive_sync.enable": "true",
            "hoodie.datasource.meta_sync.condition.sync": "true",
            "hoodie.meta.sync.client.tool.class": GLUE_SYNC_TOOL,
        }
    return values


def catalog(promotion: Promotion) -> str:
    """Return how the application registers its tables in the Glue catalogue: `HIVE` or `GLUE`."""
    # The lab's bundle has Hive sync but no Glue client; EMR's metastore client talks to Glue.
    return HIVE if promotion.profile.emr.hudi == "lock" else GLUE
