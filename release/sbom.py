"""The bill of materials of a release: `python -m release.sbom dist`.

CycloneDX, from the project's own locks: the parts that a lab fetches with their files, and the
Python packages. It stands beside the wheel that it is about.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from labctl.artifacts.lock import (
    Artifact,
    DebianArtifact,
    GoArtifact,
    LockedFile,
    MavenArtifact,
    MavenFile,
    load_lock,
)
from release.licences import Part, licence_said, load_licences, locked_packages

__all__ = ["bill_of_materials", "main"]

_LICENCES = LicenseFactory()


def main(folder: Path) -> Path:
    """Write the bill of materials of the one wheel in `folder` beside it.

    Raises SystemExit where there is no wheel, or more than one.
    """
    wheels = sorted(folder.glob("labctl-*.whl"))
    if len(wheels) != 1:
        raise SystemExit(
            f"{folder} must have one wheel of labctl, and has {len(wheels)}: make dist"
        )
    bom = bill_of_materials(wheels[0])
    target = folder / f"labctl-{bom.metadata.component.version}.cdx.json"  # type: ignore[union-attr]
    target.write_text(JsonV1Dot6(bom).output_as_string(indent=1) + "\n", encoding="utf-8")
    return target


def bill_of_materials(wheel: Path) -> Bom:
    """Return what `wheel` is, and all that it fetches or needs."""
    with ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        version = Parser().parsestr(archive.read(name).decode())["Version"]
    own = Component(
        name="labctl",
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref="labctl",
        purl=PackageURL("pypi", None, "labctl", version),
        licenses=_licences("Apache-2.0"),
        hashes=[_sha256(hashlib.sha256(wheel.read_bytes()).hexdigest())],
    )
    parts = list(_parts())
    packages = [*_packages(), *_shipped()]
    bom = Bom(components=[*parts, *packages])
    bom.metadata.component = own
    bom.register_dependency(own, [*parts, *packages])
    return bom


def _parts() -> Iterable[Component]:
    known = load_licences().parts
    for name, artifact in load_lock().artifacts.items():
        yield _part(name, artifact, known[name])
        if isinstance(artifact, GoArtifact):
            toolchain = f"{name}.toolchain"
            yield _part(toolchain, artifact.toolchain, known[toolchain])


def _part(name: str, artifact: Artifact, known: Part) -> Component:
    inside = [Property(name="labctl:also-inside", value=known.inside)] if known.inside else []
    return Component(
        name=name,
        version=artifact.version,
        type=ComponentType.APPLICATION,
        bom_ref=f"part:{name}",
        description=known.title,
        licenses=_licences(known.licence),
        purl=_module(artifact) if isinstance(artifact, GoArtifact) else None,
        components=_files(name, artifact),
        properties=inside,
    )


def _module(artifact: GoArtifact) -> PackageURL:
    folder, _, name = artifact.module.rpartition("/")
    return PackageURL("golang", folder, name, artifact.version)


def _files(part: str, artifact: Artifact) -> list[Component]:
    """Return the locked files of a part; none of a Go module, whose own go.sum has them."""
    if isinstance(artifact, GoArtifact):
        return []
    files: Iterable[LockedFile]
    files = (
        artifact.files if isinstance(artifact, MavenArtifact | DebianArtifact) else [artifact.file]
    )
    return [_file(part, artifact, file) for file in files]


def _file(part: str, artifact: Artifact, file: LockedFile) -> Component:
    group, _, name = file.name.rpartition(":")
    if isinstance(file, MavenFile):
        more = {"type": file.packaging, "classifier": file.classifier}
        purl = PackageURL("maven", group, name, file.version, {k: v for k, v in more.items() if v})
    elif isinstance(artifact, DebianArtifact):
        purl = PackageURL("deb", "debian", name, file.version, {"distro": artifact.suite})
    else:
        purl = PackageURL("pypi", None, name, file.version)
    return Component(
        name=name,
        group=group or None,
        version=file.version,
        type=ComponentType.LIBRARY,
        # The same jar may be in two parts.
        bom_ref=f"part:{part}:{purl}",
        purl=purl,
        hashes=[_sha256(file.sha256)],
    )


def _packages() -> Iterable[Component]:
    known = load_licences().packages
    for package in locked_packages():
        name = package.name
        licence = known[name].licence if name in known else licence_said(package)
        yield Component(
            name=name,
            version=package.version,
            type=ComponentType.LIBRARY,
            bom_ref=f"package:{name}",
            purl=PackageURL("pypi", None, name, package.version),
            licenses=_licences(licence) if licence else (),
        )


def _shipped() -> Iterable[Component]:
    for name, package in load_licences().shipped.items():
        purl = PackageURL("npm", None, name, package.version)
        yield Component(
            name=name,
            version=package.version,
            type=ComponentType.LIBRARY,
            bom_ref=f"shipped:{name}",
            description=package.title,
            purl=purl,
            licenses=_licences(package.licence),
            components=[
                Component(
                    name=file,
                    type=ComponentType.FILE,
                    bom_ref=f"shipped:{name}:{file}",
                    hashes=[_sha256(digest)],
                )
                for file, digest in package.files.items()
            ],
        )


def _licences(text: str) -> list[License]:
    return [_LICENCES.make_from_string(text)]


def _sha256(digest: str) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)


if __name__ == "__main__":
    print(main(Path(sys.argv[1])))
