"""The files to upload before anything can run: the Spark application, its jars and its files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from labctl.application import (
    APPLICATION,
    PACKAGE,
    application_package,
    contract_package,
    own_jar,
    require_contract,
)
from labctl.artifacts import ArtifactStore
from labctl.artifacts.lock import MavenArtifact, MavenFile
from labctl.promote.archive import zip_bytes
from labctl.promote.connector_secrets import known_values
from labctl.promote.promotion import Promotion
from labctl.services.connect_service import WORKER_FILE
from labctl.shipped import own_or_shipped

__all__ = [
    "ARCHIVE",
    "LOGS",
    "PROGRAMS",
    "Upload",
    "application",
    "bootstrap",
    "jar_parts",
    "jar_uploads",
    "own_jars",
    "project_archive",
    "python_package",
    "spark_uploads",
    "url",
]

ARCHIVE = "lab"
"""Folder of the project's files in the driver's working directory."""
PROGRAMS = ("jars", "spark", "streamer")
"""Folders of the artifacts bucket that hold the programs for EMR and their configuration."""
LOGS = "logs"
"""Folder of the artifacts bucket for EMR's logs."""
FASTAVRO = "fastavro"
_NOT_ON_EMR = ("com.amazonaws", "org.apache.hadoop", "org.wildfly.openssl", "software.amazon.ion")
"""Maven groups of the S3 client; EMR's file system has a client of its own."""
_IAM_PART = "msk-iam-auth"


@dataclass(frozen=True)
class Upload:
    """A file for the artifacts bucket."""

    key: str
    content: bytes | Path
    """The bytes, or the path of the file to copy."""


def url(promotion: Promotion, upload: Upload) -> str:
    return f"s3://{promotion.profile.lake.artifacts}/{upload.key}"


def _upload(name: str, content: bytes) -> Upload:
    """Return an upload whose key contains a digest, so that a key's content never changes."""
    stem, dot, suffix = name.partition(".")
    digest = hashlib.sha256(content).hexdigest()[:12]
    return Upload(f"spark/{stem}-{digest}{dot}{suffix}", content)


def application(promotion: Promotion) -> Upload:
    """Return the script that `spark-submit` runs."""
    return _upload("silver.py", own_or_shipped(promotion.project, APPLICATION).read_bytes())


def python_package(promotion: Promotion) -> Upload:
    """Return the application's package and the contract's, for `--py-files`.

    Raises LabError (USAGE) if the application needs another contract.
    """
    require_contract(promotion.project)
    packages = (application_package(promotion.project), contract_package())
    content = {
        path.relative_to(package.parent).as_posix(): path.read_bytes()
        for package in packages
        for path in sorted(package.rglob("*.py"))
    }
    return _upload(f"{PACKAGE}.zip", zip_bytes(content))


def own_jars(promotion: Promotion) -> list[Upload]:
    """Return the jar of the package's Java classes; empty unless EMR runs the locked Hudi."""
    if promotion.profile.emr.hudi != "lock":
        return []
    return [_upload(f"{PACKAGE}.jar", own_jar(promotion.project).read_bytes())]


def project_archive(promotion: Promotion) -> Upload:
    """Return a ZIP of the table properties, the connector files and the sink's references.

    The files are unchanged. The references hold no secret: the object store's keys are empty.
    """
    entries = {
        path.relative_to(promotion.project).as_posix(): path.read_bytes()
        for path in sorted(file.path for file in promotion.files)
    }
    entries[WORKER_FILE] = own_or_shipped(promotion.project, WORKER_FILE).read_bytes()
    entries |= {name: path.read_bytes() for name, path in promotion.properties_files.items()}
    for name, values in known_values(promotion).items():
        if name in ("demo/objectstore", "demo/registry"):
            lines = "".join(f"{key}={value}\n" for key, value in values.items())
            entries[f"references/{name}"] = lines.encode()
    return _upload(f"{ARCHIVE}.zip", zip_bytes(entries))


def bootstrap(promotion: Promotion) -> Upload:
    """Return the bootstrap script of EMR on EC2, which installs Python 3.11 and fastavro."""
    version = _fastavro_version(own_or_shipped(promotion.project, "requirements.lock"))
    script = f"""#!/bin/bash
set -euo pipefail
sudo dnf install -y python3.11 python3.11-pip
sudo python3.11 -m pip install --no-cache-dir {FASTAVRO}{version}
"""
    return _upload("bootstrap.sh", script.encode())


def _fastavro_version(lock: Path) -> str:
    """Return the lock's version as `==…`, or an empty string if the lock has none."""
    for line in lock.read_text(encoding="utf-8").splitlines():
        name, separator, rest = line.partition("==")
        if separator and name.strip() == FASTAVRO:
            return f"=={rest.split()[0]}"
    return ""


def jars(promotion: Promotion) -> list[MavenFile]:
    """Return the locked jars that Spark needs on EMR."""
    found: list[MavenFile] = []
    for part in ("spark-packages", _IAM_PART):
        artifact = promotion.lock.artifacts.get(part)
        if not isinstance(artifact, MavenArtifact):
            continue
        if part == _IAM_PART and "iam" not in promotion.profile.msk.authentication:
            continue
        found += [file for file in artifact.files if _wanted(promotion, file)]
    return found


def jar_parts(promotion: Promotion) -> set[str]:
    """Return the locked parts that contain the jars."""
    return {_part_of(file) for file in jars(promotion)}


def _part_of(file: MavenFile) -> str:
    return _IAM_PART if file.name.startswith("software.amazon.msk:") else "spark-packages"


def _wanted(promotion: Promotion, file: MavenFile) -> bool:
    group, name = file.name.split(":")
    if group == "org.apache.hudi":
        return promotion.profile.emr.hudi == "lock"
    if name == "jackson-dataformat-cbor":
        return False
    return group not in _NOT_ON_EMR


def jar_name(file: MavenFile) -> str:
    classifier = f"-{file.classifier}" if file.classifier else ""
    return f"{file.name.split(':')[1]}-{file.version}{classifier}.jar"


def jar_key(file: MavenFile) -> str:
    """Return a jar's key. It needs no digest: a locked version's content never changes."""
    return f"jars/{jar_name(file)}"


def jar_uploads(promotion: Promotion, store: ArtifactStore | None) -> list[Upload]:
    """Return the jars; without a store, with empty content.

    Raises LabError for a part that is not fetched.
    """
    uploads = []
    for file in jars(promotion):
        name = jar_name(file)
        if store is None:
            uploads.append(Upload(jar_key(file), b""))
            continue
        uploads.append(Upload(jar_key(file), next(store.path(_part_of(file)).rglob(name))))
    return uploads


def spark_uploads(promotion: Promotion) -> Mapping[str, Upload]:
    """Return the uploads made from the project's own files, by their role."""
    uploads = {
        "application": application(promotion),
        "package": python_package(promotion),
        "archive": project_archive(promotion),
    }
    uploads |= {jar.key: jar for jar in own_jars(promotion)}
    if promotion.profile.emr.kind == "ec2":
        uploads["bootstrap"] = bootstrap(promotion)
    return uploads
