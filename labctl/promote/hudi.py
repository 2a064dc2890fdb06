"""Hudi's properties on AWS: the tables' own files, and what the profile puts over them."""

from __future__ import annotations

from labctl.promote.emr import Release, release_of
from labctl.promote.promotion import Promotion
from lakehouse.options import GLUE, GLUE_SYNC_TOOL, HIVE

__all__ = ["ATHENA_TABLE_VERSION", "catalog", "hudi_version", "overrides"]

ATHENA_TABLE_VERSION = "6"
"""What Hudi 0.14 and 0.15 write, and Athena reads; Hudi 1.x writes 8 or 9 unless told so."""
_ORDERING_FIELDS_SINCE = (1, 1)
"""`hoodie.table.ordering.fields` was `…precombine.field` before."""


def hudi_version(promotion: Promotion) -> tuple[int, ...]:
    """Of the Hudi that the chosen engine runs with; empty when the release is not known."""
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
    """`hoodie.*` values that win over the tables' files, the same for every table."""
    profile = promotion.profile
    values: dict[str, str] = {}
    version = hudi_version(promotion)
    if profile.glue.athena and version >= (1,):
        values |= {
            "hoodie.write.table.version": ATHENA_TABLE_VERSION,
            "hoodie.write.auto.upgrade": "false",
            # Tables of this version know the order of a key's changes by its payload.
            "hoodie.datasource.write.payload.class": (
                "org.apache.hudi.common.model.DefaultHoodieRecordPayload"
            ),
        }
    ordering = {table.properties.ordering_field for table in promotion.tables}
    if version < _ORDERING_FIELDS_SINCE and len(ordering) == 1:
        values["hoodie.datasource.write.precombine.field"] = ordering.pop()
    if profile.emr.engine != "application":
        # The application registers its tables itself (see `catalog`), beside its commits.
        values |= {
            "hoodie.datasource.hive_sync.enable": "true",
            "hoodie.datasource.meta_sync.condition.sync": "true",
            "hoodie.meta.sync.client.tool.class": GLUE_SYNC_TOOL,
        }
    return values


def catalog(promotion: Promotion) -> str:
    """Where the application registers its tables: the Glue catalogue, by one way or the other."""
    # The lab's bundle has Hive's sync and no Glue client: EMR's metastore client is one.
    return HIVE if promotion.profile.emr.hudi == "lock" else GLUE
