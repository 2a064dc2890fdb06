"""Known vulnerabilities of what a release brings: `python -m release.audit dist`.

The bill of materials names it: Maven files and a Go module of the parts, and Python packages. The
audit adds the packages that build and test the release, and what is packed into the jars of parts
that are fetched on this machine. It looks all of them up in OSV's database.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import BadZipFile, ZipFile

from packageurl import PackageURL
from pydantic import BaseModel, ConfigDict, Field

from labctl.artifacts import ArtifactStore
from labctl.artifacts.lock import MavenArtifact
from release.licences import ROOT, locked_packages
from release.osv import SERVICE, Osv, OsvError, Vulnerability

__all__ = ["Accepted", "Finding", "audit", "load_accepted", "main", "packages_in", "packed_in"]

RECORD = Path(__file__).with_name("vulnerabilities.toml")
FOUND, NOT_AUDITED = 1, 3
"""Exit codes: something was found; nothing could be asked."""
ASKED = ("golang", "maven", "pypi")
"""Kinds of packages that OSV knows under the names they have here."""
_POM = re.compile(r"META-INF/maven/[^/]+/[^/]+/pom\.properties")
_LINE = re.compile(r"^(groupId|artifactId|version)\s*=\s*(\S+)\s*$", re.MULTILINE)


class Accepted(BaseModel):
    """A vulnerability that a release may have."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    """One of its identifiers: GHSA-…, CVE-…, PYSEC-…"""
    package: str
    """The package URL without a version: `pkg:maven/GROUP/NAME`."""
    why: str = Field(min_length=1)
    """Why it does no harm here, or what is waited for."""


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    accepted: tuple[Accepted, ...] = ()


class Finding(NamedTuple):
    """A vulnerability of a package."""

    purl: PackageURL
    vulnerability: Vulnerability

    def __str__(self) -> str:
        known = self.vulnerability
        name = ":".join(part for part in (self.purl.namespace, self.purl.name) if part)
        fixed = ", ".join(known.fixed_in(name))
        others = ", ".join(sorted(known.names - {known.id}))
        lines = (
            f"{self.purl}: {known.id}{f' ({others})' if others else ''}",
            f"  {known.severity or 'severity not said'}: {known.title}",
            f"  fixed in {fixed}" if fixed else "  no fixed version is known",
        )
        return "\n".join(lines)

    def is_accepted_by(self, accepted: Accepted) -> bool:
        """Return whether the record is about this vulnerability of this package."""
        return accepted.id in self.vulnerability.names and accepted.package == _versionless(
            self.purl
        )


def load_accepted(path: Path = RECORD) -> tuple[Accepted, ...]:
    """Return the record of accepted vulnerabilities. Raises ValueError if it is not one."""
    return _Record.model_validate(tomllib.loads(path.read_text("utf-8"))).accepted


def packages_in(bom: dict[str, Any]) -> Iterator[PackageURL]:
    """Yield the package URLs of a CycloneDX document, without what a URL says of a file."""
    for component in bom.get("components", []):
        if text := component.get("purl"):
            yield _plain(PackageURL.from_string(text))
        yield from packages_in(component)


def packed_in(jars: Iterable[Path]) -> Iterator[PackageURL]:
    """Yield the Maven components that jars say they hold: themselves, and what is packed in."""
    for jar in jars:
        try:
            with ZipFile(jar) as archive:
                poms = [name for name in archive.namelist() if _POM.fullmatch(name)]
                texts = [archive.read(name).decode("utf-8", "replace") for name in poms]
        except (BadZipFile, OSError) as error:
            raise SystemExit(f"{jar} cannot be read: {error}") from None
        for text in texts:
            said = dict(_LINE.findall(text))
            if len(said) == 3 and "${" not in "".join(said.values()):
                yield PackageURL("maven", said["groupId"], said["artifactId"], said["version"])


def audit(osv: Osv, purls: Iterable[PackageURL]) -> list[Finding]:
    """Return the known vulnerabilities of packages, by package. Raises OsvError."""
    asked = {str(purl): purl for purl in sorted(set(purls), key=str) if purl.type in ASKED}
    found = osv.ids(list(asked))
    known = {
        id_: osv.vulnerability(id_) for id_ in sorted({i for ids in found.values() for i in ids})
    }
    return [
        Finding(purl, known[id_])
        for text, purl in asked.items()
        for id_ in dict.fromkeys(found.get(text, ()))
        if not known[id_].withdrawn
    ]


def main(arguments: list[str]) -> int:
    """Audit the one bill of materials of a folder, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m release.audit", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the bill of materials is")
    parser.add_argument("--service", default=SERVICE, help="OSV's address [%(default)s]")
    parser.add_argument("--skip", action="store_true", help="ask nothing, and say so")
    options = parser.parse_args(arguments)
    if options.skip:
        print("NOT AUDITED: nobody asked for known vulnerabilities (--skip)", file=sys.stderr)
        return 0
    purls = {*packages_in(_bill(options.folder)), *_build_packages()}
    packed, unseen = _fetched()
    purls |= packed
    others = len([purl for purl in purls if purl.type not in ASKED])
    try:
        findings = audit(Osv(options.service), purls)
    except OsvError as error:
        print(f"NOT AUDITED: {error}", file=sys.stderr)
        print("try again where OSV can be reached, or: make dist AUDIT=skip", file=sys.stderr)
        return NOT_AUDITED
    return _report(findings, load_accepted(), len(purls) - others, others, unseen)


def _report(
    findings: list[Finding],
    accepted: tuple[Accepted, ...],
    asked: int,
    others: int,
    unseen: list[str],
) -> int:
    """Print what was found and what was not looked at; return the exit code."""
    new = [one for one in findings if not any(map(one.is_accepted_by, accepted))]
    stale = [one for one in accepted if not any(f.is_accepted_by(one) for f in findings)]
    for finding in new:
        print(finding)
    for one in stale:
        print(f"{one.package} no longer has {one.id}: remove it from {RECORD.name}")
    print(
        f"{asked} packages asked about: {len(new)} vulnerabilities, "
        f"{len(findings) - len(new)} accepted"
    )
    print(f"not asked about: {others} Debian packages, which OSV knows by their sources' names")
    if unseen:
        print(f"not looked into, because not fetched: {', '.join(unseen)}")
    return FOUND if new or stale else 0


def _bill(folder: Path) -> dict[str, Any]:
    bills = sorted(folder.glob("*.cdx.json"))
    if len(bills) != 1:
        raise SystemExit(
            f"{folder} must have one bill of materials, and has {len(bills)}: make dist"
        )
    bom: dict[str, Any] = json.loads(bills[0].read_text("utf-8"))
    return bom


def _build_packages() -> Iterator[PackageURL]:
    """Yield the Python packages that build and test a release."""
    for name in ("requirements-dev.lock", "requirements-uv.lock"):
        for package in locked_packages(ROOT / name):
            yield PackageURL("pypi", None, package.name, package.version)


def _fetched() -> tuple[set[PackageURL], list[str]]:
    """Return what is packed into the jars of fetched parts, and the parts that are not fetched."""
    store, packed, unseen = ArtifactStore(), set[PackageURL](), []
    for name, artifact in store.lock.artifacts.items():
        if not isinstance(artifact, MavenArtifact):
            continue
        if store.status(name).state == "ready":
            packed.update(packed_in(sorted(store.path(name).rglob("*.jar"))))
        else:
            unseen.append(name)
    return packed, unseen


def _plain(purl: PackageURL) -> PackageURL:
    return PackageURL(purl.type, purl.namespace, purl.name, purl.version)


def _versionless(purl: PackageURL) -> str:
    return str(PackageURL(purl.type, purl.namespace, purl.name))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
