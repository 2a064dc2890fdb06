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
from labctl.services.connect import PLUGIN_JAR
from labctl.sources import ENGINES

__all__ = ["CONVERTER", "Plugin", "build_plugin", "parts_of", "plugin_of"]

CONVERTER = "apicurio-converter"
LAYOUT = 1
"""To be raised when what is put into a ZIP, or how, changes: names follow it."""


@dataclass(frozen=True)
class Plugin:
    """A custom plugin, by what it is made of. Named by it too: one that exists never changes."""

    name: str
    key: str
    """Of the ZIP in the artifacts bucket."""
    description: str
    parts: tuple[str, ...]
    """Names in the artefact lock."""
    files: tuple[str, ...]
    """Files below the project: the config provider, the sink connector."""


def parts_of(connector: PromotedConnector) -> tuple[str, ...]:
    """The locked parts a connector needs."""
    return (ENGINES[connector.engine].plugin, CONVERTER) if connector.engine else (CONVERTER,)


def plugin_of(promotion: Promotion, connector: PromotedConnector) -> Plugin:
    """The plugin `connector` runs from. Reads no part and no file."""
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
    """The ZIP of `plugin`: one folder, jars of all parts beside each other.

    Raises LabError when a part is not fetched, or a file cannot be used.
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
    """The jars of a ZIP, or the jar itself."""
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
    """Of a file that may not be there: what names a plugin before its provider was fetched."""
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "missing"
