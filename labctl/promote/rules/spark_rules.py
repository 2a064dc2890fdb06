"""Rules for EMR, Hudi and Athena: their versions fit together."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from labctl.promote.emr import known_releases, release_of
from labctl.promote.hudi_overrides import ATHENA_TABLE_VERSION, hudi_version, overrides
from labctl.promote.rules.rule import Finding, Subject, rule
from labctl.promote.streamer import SCHEMAS, schema_path

__all__: list[str] = []

_BUNDLE = re.compile(r"org\.apache\.hudi:hudi-spark(\d+\.\d+)-bundle_.*")


@rule
def emr_release(subject: Subject) -> Iterator[Finding]:
    """Check that the release has the Spark version of the application and its jars."""
    emr = subject.promotion.profile.emr
    release = release_of(emr.release)
    if release is None:
        yield subject.profile(
            "emr.release",
            f"what {emr.release!r} brings is not known",
            f"use one of {known_releases()}",
        )
        return
    wanted = _spark_of_lock(subject)
    if release.spark != wanted:
        yield subject.profile(
            "emr.release",
            f"{emr.release} runs Spark {release.spark}; the application and Hudi are for {wanted}",
            "use emr-7.11.0 to emr-7.13.0",
        )


def _spark_of_lock(subject: Subject) -> str:
    files = subject.promotion.lock.artifacts["spark-packages"].files  # type: ignore[union-attr]
    return next(match[1] for file in files if (match := _BUNDLE.fullmatch(file.name)))


@rule
def release_hudi(subject: Subject) -> Iterator[Finding]:
    """Check that the application gets Hudi 1.x; an older one lacks functions that it calls."""
    emr = subject.promotion.profile.emr
    version = hudi_version(subject.promotion)
    if emr.engine == "application" and emr.hudi == "release" and version and version < (1,):
        yield subject.profile(
            "emr.hudi",
            f"{emr.release} brings Hudi {'.'.join(map(str, version))}; the application needs 1.0",
            'use "lock", or emr-7.11.0 and later',
        )


@rule
def athena_table_version(subject: Subject) -> Iterator[Finding]:
    """Check that tables stay at version 6 for Athena; by default a writer upgrades them."""
    promotion = subject.promotion
    if not promotion.profile.glue.athena or hudi_version(promotion) < (1,):
        return
    final = overrides(promotion)
    for table in promotion.tables:
        hoodie = dict(table.properties.hoodie)
        said = hoodie.get("hoodie.write.table.version", ATHENA_TABLE_VERSION)
        if said != ATHENA_TABLE_VERSION:
            yield Finding(
                table.properties.file.relative_to(promotion.project).as_posix(),
                "hoodie.write.table.version",
                f"the file asks for version {said}, and Athena reads {ATHENA_TABLE_VERSION}",
                "remove it from the file, or set glue.athena = false",
            )
        merged = hoodie | final
        if (
            merged.get("hoodie.write.table.version") != ATHENA_TABLE_VERSION
            or merged.get("hoodie.write.auto.upgrade") != "false"
        ):
            yield subject.profile(
                "glue.athena",
                f"table {table.name} would be written in a version Athena does not read",
                "let the plan set hoodie.write.table.version",
            )


@rule
def python_environment(subject: Subject) -> Iterator[Finding]:
    """Check for a packed Python environment: EMR Serverless runs no bootstrap script."""
    emr = subject.promotion.profile.emr
    if emr.kind != "serverless" or emr.engine != "application":
        return
    if not emr.python:
        yield subject.profile(
            "emr.python",
            "EMR Serverless has Python 3.9 and no fastavro, the application needs 3.11 with it",
            "pack an environment (docs/aws.md) and name its tar.gz",
        )
    elif subject.plan.complete and not (subject.promotion.project / emr.python).is_file():
        yield subject.profile(
            "emr.python", f"there is no file {emr.python} in the project", "pack it (docs/aws.md)"
        )


@rule
def streamer_schemas(subject: Subject) -> Iterator[Finding]:
    """Check for schema files: HoodieStreamer needs them, the lab's schemas are in the registry."""
    promotion = subject.promotion
    if promotion.profile.emr.engine == "application":
        return
    for table in promotion.tables:
        path = schema_path(promotion, table)
        name = f"{SCHEMAS.as_posix()}/{path.name}"
        try:
            fields = {field["name"] for field in json.loads(path.read_text("utf-8"))["fields"]}
        except (OSError, ValueError, KeyError, TypeError):
            yield Finding(
                name,
                "(the file)",
                f"the streamer of {table.name} needs the schema of its bronze files",
                "`labctl promote schemas` writes it from a lab that runs",
            )
            continue
        ordering = table.properties.ordering_field
        if ordering not in fields:
            yield Finding(
                name,
                ordering,
                f"changes of {table.name} are ordered by a field that is not in the schema",
                "write it again with `labctl promote schemas`",
            )


@rule
def bronze_retention(subject: Subject) -> Iterator[Finding]:
    """Check that somebody removes old bronze files if the lake has a retention."""
    promotion = subject.promotion
    if promotion.profile.emr.engine != "application" and promotion.config.lake.retention:
        yield subject.profile(
            "emr.engine",
            f"lake.retention is {promotion.config.lake.retention}, and only the application removes"
            " old bronze files",
            'use "application", or leave lake.retention out',
        )


@rule
def ordering_fields(subject: Subject) -> Iterator[Finding]:
    """Check that all tables have one ordering field: Hudi before 1.1 takes one per job."""
    promotion = subject.promotion
    ordering = {table.properties.ordering_field for table in promotion.tables}
    if hudi_version(promotion) < (1, 1) and len(ordering) > 1:
        yield subject.profile(
            "emr.hudi",
            f"tables are ordered by {', '.join(sorted(ordering))}, which Hudi before 1.1 cannot be "
            "told for all of them at once",
            'use "lock"',
        )


@rule
def registry_address(subject: Subject) -> Iterator[Finding]:
    url = subject.promotion.profile.registry.url
    if not re.fullmatch(r"https?://[^/\s]+/?", url):
        yield subject.profile(
            "registry.url",
            f"{url!r} is no base address of a registry",
            "write http://host:port, without /apis/…",
        )
    if re.match(r"https?://(localhost|127\.)", url):
        yield subject.profile(
            "registry.url",
            "workers on AWS cannot reach a registry on this machine",
            "give the address of one in the VPC",
        )
