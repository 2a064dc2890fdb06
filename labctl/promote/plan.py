"""A plan: files by path, rendered from the project alone and identical every time."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labctl.artifacts import ArtifactStore
from labctl.artifacts.checksum import sha256_of
from labctl.errors import ExitCode, LabError
from labctl.promote.api_image import API_IMAGE, image_files
from labctl.promote.artifacts import Upload, jar_parts, jar_uploads, spark_uploads
from labctl.promote.aws_names import Stack
from labctl.promote.cloudformation import templates
from labctl.promote.emr_application import environment_key, work_items
from labctl.promote.msk_connectors import create_request, worker_text
from labctl.promote.outputs import plain
from labctl.promote.plugins import build_plugin, parts_of, plugin_of
from labctl.promote.promoted_values import profile_values, render_values
from labctl.promote.promotion import Promotion
from labctl.promote.readme import render_readme
from labctl.promote.source_sql import source_sql
from labctl.promote.streamer import generated_uploads, streamer_items, streamer_uploads
from labctl.services.connect_service import WORKER_FILE
from labctl.services.silver_service import SPARK_DEFAULTS
from labctl.shipped import own_or_shipped
from labctl.state.folders import filled_folder
from labctl.tables import GOLD

__all__ = ["MARKER", "Plan", "as_json", "needed_parts", "render", "write_plan"]

MARKER = "plan.json"
"""File that marks a plan's folder: `write_plan` replaces no other folder with content."""


@dataclass(frozen=True)
class Plan:
    """Everything that a promotion will make."""

    templates: Mapping[Stack, dict[str, Any]]
    connectors: Mapping[str, Mapping[str, Any]]
    """CreateConnector requests by connector name, their outputs not yet resolved."""
    work: list[dict[str, Any]]
    """EMR steps or job runs, their outputs not yet resolved."""
    uploads: tuple[Upload, ...]
    """Files for the artifacts bucket. In a plan without artifacts the large ones are empty."""
    texts: Mapping[str, bytes]
    """All other files by their path in the folder."""
    complete: bool
    """True if the plan has its artifacts; only such a plan can be applied."""

    @property
    def files(self) -> dict[str, bytes | Path]:
        """All files of the plan's folder, by path."""
        files: dict[str, bytes | Path] = dict(self.texts)
        if self.complete:
            files |= {f"artifacts/{u.key}": u.content for u in self.uploads}
        return {path: files[path] for path in sorted(files)}


def render(promotion: Promotion, store: ArtifactStore | None) -> Plan:
    """Return the plan of `promotion`. Without `store`, which has the locked parts, omit artifacts.

    Reads only the project's files. Raises LabError if a part is not fetched.
    """
    built = templates(promotion)
    requests = {c.name: create_request(promotion, c) for c in promotion.connectors}
    application = promotion.profile.emr.engine == "application"
    work = work_items(promotion) if application else streamer_items(promotion)
    uploads = tuple(_uploads(promotion, store))
    texts = {
        MARKER: as_json({"profile": promotion.profile_name, "format": 1}),
        "README.md": render_readme(promotion, built).encode(),  # type: ignore[arg-type]
        "artifacts.json": as_json([{"key": upload.key} for upload in uploads]),
        **{f"cloudformation/{name}.json": as_json(body) for name, body in built.items()},
        **{f"payloads/connectors/{name}.json": as_json(plain(r)) for name, r in requests.items()},
        **{
            f"payloads/spark/{item.get('Name') or item['name']}.json": as_json(plain(item))
            for item in work
        },
        **{
            f"sql/{source}.sql": source_sql(promotion, source).encode()
            for source in promotion.captured
        },
        **{
            f"worker/{c.name}.properties": worker_text(promotion, c).encode()
            for c in promotion.connectors
        },
        **_unchanged(promotion),
        **_image(promotion),
        "values.json": render_values(
            profile_values(promotion.project, promotion.config, promotion.profile_name)
        ),
    }
    texts["spark/submit.args"] = _command_lines(work)
    return Plan(built, requests, work, uploads, texts, complete=store is not None)


def needed_parts(promotion: Promotion) -> list[str]:
    """Return the names of the locked parts whose files go into the plan."""
    parts = {part for connector in promotion.connectors for part in parts_of(connector)}
    if promotion.profile.emr.engine == "application":
        parts |= jar_parts(promotion)
    return sorted(parts)


def _unchanged(promotion: Promotion) -> dict[str, bytes]:
    """Return the project's own files, unchanged."""
    files = {f"connectors/{f.path.name}": f.path.read_bytes() for f in promotion.files}
    for name in (WORKER_FILE, SPARK_DEFAULTS):
        files[name] = own_or_shipped(promotion.project, name).read_bytes()
    for view in promotion.lake_views:
        files[f"{GOLD}/{view.database}/{view.file.name}"] = view.file.read_bytes()
    for query in promotion.lake_queries:
        files[query.place] = query.file.read_bytes()
    return files | {n: path.read_bytes() for n, path in promotion.properties_files.items()}


def _image(promotion: Promotion) -> dict[str, bytes]:
    """Return the build context of the lake API's image; empty if the lab has no lake API."""
    if not promotion.config.api.enabled:
        return {}
    return {f"{API_IMAGE}/{path}": content for path, content in image_files(promotion).items()}


def _command_lines(work: list[dict[str, Any]]) -> bytes:
    """Return one argument per line and one block per job, so that a diff shows changes."""
    blocks = []
    for item in work:
        if "HadoopJarStep" in item:
            arguments = item["HadoopJarStep"]["Args"]
        else:
            submit = item["jobDriver"]["sparkSubmit"]
            arguments = [
                submit["sparkSubmitParameters"],
                submit["entryPoint"],
                *submit["entryPointArguments"],
            ]
        blocks.append("".join(f"{argument}\n" for argument in arguments))
    return "\n".join(blocks).encode()


def _uploads(promotion: Promotion, store: ArtifactStore | None) -> list[Upload]:
    uploads: list[Upload] = []
    for connector in promotion.connectors:
        plugin = plugin_of(promotion, connector)
        content = build_plugin(promotion, plugin, store) if store else b""
        uploads.append(Upload(plugin.key, content))
    emr = promotion.profile.emr
    if emr.engine == "application":
        uploads += spark_uploads(promotion).values()
        uploads += jar_uploads(promotion, store)
    else:
        if emr.kind == "ec2":
            uploads.append(spark_uploads(promotion)["bootstrap"])
        uploads += [*streamer_uploads(promotion).values(), *generated_uploads(promotion).values()]
    if emr.kind == "serverless" and emr.python:
        uploads.append(Upload(environment_key(), promotion.project / emr.python))
    return uploads


def as_json(value: Any) -> bytes:
    """Return readable, comparable JSON: indented, with keys in insertion order."""
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def write_plan(plan: Plan, folder: Path) -> str:
    """Write the plan's files to `folder`, replacing an older plan; return the digest of all files.

    Raises LabError (USAGE) for a folder that holds something else, and leaves it unchanged.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / MARKER).is_file():
        raise LabError(
            f"{folder} holds something that is no plan",
            hint="give another folder with --to",
            exit_code=ExitCode.USAGE,
        )
    digest = hashlib.sha256()
    with filled_folder(folder) as staged:
        for path, content in plan.files.items():
            target = staged / path
            target.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, Path):
                shutil.copyfile(content, target)
            else:
                target.write_bytes(content)
            digest.update(f"{path} {sha256_of(target)}\n".encode())
    return digest.hexdigest()
