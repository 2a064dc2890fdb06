"""Custom plugins: one ZIP per connector, with the connector, the converter and the provider."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from labctl.artifacts import ArtifactStore
from labctl.errors import ExitCode, LabError
from labctl.promote.archive import zip_bytes
from labctl.promote.promotion import PromotedConnector, Promotion
from labctl.services.connect_service import PLUGIN_JAR
from labctl.sources import ENGINES

__all__ = ["CONVERTER", "Plugin", "build_plugin", "parts_of", "plugin_of"]

CONVERTER = "apicurio-converter"
LAYOUT = 1
"""Version of the ZIPs' content and layout; raise it when they change. Names depend on it."""


@dataclass(frozen=True)
class Plugin:
    """A custom plugin. Its name contains a digest of its parts, so a plugin never changes."""

    name: str
    key: str
    """Key of the ZIP in the artifacts bucket."""
    description: str
    parts: tuple[str, ...]
    """Names in the artefact lock."""
    files: tuple[str, ...]
    """Files below the project: the config provider, the sink connector."""


def parts_of(connector: PromotedConnector) -> tuple[str, ...]:
    """Return the locked parts that a connector needs."""
    return (ENGINES[connector.engine].plugin, CONVERTER) if connector.engine else (CONVERTER,)


def plugin_of(promotion: Promotion, connector: PromotedConnector) -> Plugin:
    """Return the plugin that `connector` runs from. Needs no fetched part."""
    settings = promotion.profile.connect
    parts = parts_of(connector)
    sink = settings.sink if connector.engine is None else None
    files = tuple(f.file for f in (settings.provider, sink) if f)
    material = [str(LAYOUT), *(promotion.lock.artifacts[part].digest for part in parts)]
    material += [
        _file_digest(path) for path in (PLUGIN_JAR, *(promotion.project / f for f in files))
    ]
    digest = hashlib.sha256("\n".join(material).encode()).hexdigest()[:12]
    short = parts[0] if connector.engine else "s3-sink"
    versions = ", ".join(f"{part} {promotion.lock.artifacts[part].version}" for part in parts)
    name = f"{promotion.profile.prefix}-{short}-{digest}"
    return Plugin(name, f"plugins/{name}.zip", versions, parts, files)


def build_plugin(promotion: Promotion, plugin: Plugin, store: ArtifactStore) -> bytes:
    """Return the ZIP of `plugin`: one folder with the jars of all parts.

    Raises LabError if a part is not fetched or a file cannot be used.
    """
    entries: dict[str, bytes] = {}
    for part in plugin.parts:
        for path in sorted(store.path(part).rglob("*.jar")):
            entries.setdefault(f"{plugin.name}/{path.name}", path.read_bytes())
    entries[f"{plugin.name}/{PLUGIN_JAR.name}"] = PLUGIN_JAR.read_bytes()
    for name in plugin.files:
        for jar, content in _jars(promotion.project / name):
            entries.setdefault(f"{plugin.name}/{jar}", content)
    return zip_bytes(entries)


def _jars(path: Path) -> Iterator[tuple[str, bytes]]:
    """Yield each jar's name and content from a ZIP, or those of the jar itself."""
    if path.suffix == ".jar":
        yield path.name, path.read_bytes()
        return
    try:
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.endswith(".jar"):
                    yield Path(name).name, archive.read(name)
    except (OSError, zipfile.BadZipFile) as error:
        raise LabError(
            f"{path} is not a usable ZIP of jars: {error}",
            hint="docs/aws.md says where config providers come from",
            exit_code=ExitCode.USAGE,
        ) from None


def _file_digest(path: Path) -> str:
    """Return the digest, or "missing": a plugin is named before its provider is fetched."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
