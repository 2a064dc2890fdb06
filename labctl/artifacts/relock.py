"""Generator of lock.json from parts.toml: `python -m labctl.artifacts.relock [name …]`.

This tool is for maintainers. It resolves each part's current files, downloads them once and records
their checksums. With names, it resolves only these parts again. It needs `go` on the PATH for Go
modules and a Debian machine for Debian packages. `--folder` names another folder with both files.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import re
import sys
import tempfile
import threading
import tomllib
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

from jgo.maven import Artifact as MavenTarget
from jgo.maven import MavenContext

from labctl.artifacts import debian, maven, pypi, system
from labctl.artifacts.apt import Apt
from labctl.artifacts.checksum import sha256_of
from labctl.artifacts.fetch_progress import SilentProgress
from labctl.artifacts.job import Job
from labctl.artifacts.lock import (
    VERSION_OPTION,
    Artifact,
    DebianArtifact,
    GoArtifact,
    Lock,
    LockedFile,
    MavenArtifact,
    MavenFile,
    PypiArtifact,
    load_lock,
)
from labctl.errors import ExitCode, LabError

__all__ = ["main"]

Part = dict[str, Any]


def main(names: list[str], folder: Path) -> None:
    """Resolve the named parts of `folder`, or all parts, and write its lock."""
    parts = tomllib.loads((folder / "parts.toml").read_text())
    target = folder / "lock.json"
    known = load_lock(target).artifacts if target.exists() and names else {}
    artifacts: dict[str, Artifact] = {}
    with tempfile.TemporaryDirectory(prefix="relock-") as scratch:
        for name, part in parts.items():
            if name in known and name not in names:
                artifacts[name] = known[name]
                continue
            artifacts[name] = _lock(part, _job(name, Path(scratch) / name))
            print(f"{name} {artifacts[name].version}: {artifacts[name].download_size:,} bytes")
    content = Lock(artifacts=artifacts).model_dump(mode="json", exclude_defaults=False)
    target.write_text(json.dumps(content, indent=1) + "\n")


def _job(name: str, work: Path) -> Job:
    job = Job(name, work, (), SilentProgress(), threading.Event(), threading.Semaphore())
    job.tree.mkdir(parents=True)
    return job


def _lock(part: Part, job: Job) -> Artifact:
    lockers: dict[str, Callable[[Part, Job], Artifact]] = {
        "maven": _lock_maven,
        "pypi": _lock_pypi,
        "debian": _lock_debian,
        "go": _lock_go,
    }
    return lockers[part["kind"]](part, job)


def _lock_maven(part: Part, job: Job) -> MavenArtifact:
    context = maven.context(job.work / "repository")
    archives = [_archive(coordinate, context) for coordinate in part.get("archives", [])]
    locked = [_maven_file(found) for found in (*_closure(part, context), *archives)]
    return MavenArtifact(
        version=part["version"],
        folder=part.get("folder", ""),
        files=tuple(sorted(locked, key=lambda file: (file.name, file.classifier))),
    )


def _closure(part: Part, context: MavenContext) -> list[MavenTarget]:
    """Return the roots and their run-time dependencies, without excluded and provided ones."""
    # jgo imports each root's dependency management, as if it were a BOM, unless "!" follows it.
    mark = "" if part.get("managed") else "!"
    roots = [context.create_dependency(f"{root}{mark}") for root in part.get("roots", [])]
    if not roots:
        return []
    resolved, transitive = context.resolver.resolve(roots)
    provided = _jar_names(part["provided_by"]) if "provided_by" in part else set()
    wanted = [
        dependency
        for dependency in transitive
        if dependency.scope in ("compile", "runtime")
        and dependency.artifactId not in provided
        and f"{dependency.groupId}:{dependency.artifactId}" not in part.get("exclude", [])
    ]
    return [dependency.artifact for dependency in (*resolved, *wanted)]


def _archive(coordinate: str, context: MavenContext) -> MavenTarget:
    group, name, packaging, classifier, version = coordinate.split(":")
    return context.project(group, name).at_version(version).artifact(classifier, packaging)


def _jar_names(package: str) -> set[str]:
    """Return the artifact ids of the jars that ship with an installed Python package."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        raise LabError(f"{package} is not installed", exit_code=ExitCode.ENVIRONMENT)
    jars = (Path(spec.origin).parent / "jars").glob("*.jar")
    return {re.sub(r"-\d[^_]*$", "", jar.stem) for jar in jars}


def _maven_file(target: MavenTarget) -> MavenFile:
    path = target.resolve()
    return MavenFile(
        name=f"{target.groupId}:{target.artifactId}",
        version=target.version,
        packaging=target.packaging,
        classifier=target.classifier,
        sha256=sha256_of(path),
        size=path.stat().st_size,
    )


def _lock_pypi(part: Part, job: Job) -> PypiArtifact:
    wheel = pypi.pip_download([f"{part['project']}=={part['version']}"], part["project"], job, 0)
    file = _locked(part["project"], part["version"], wheel)
    return PypiArtifact(
        version=part["version"], folder=part.get("folder", ""), check=part["check"], file=file
    )


def _lock_debian(part: Part, job: Job) -> DebianArtifact:
    apt = Apt(job, part["suite"])
    apt.update()
    packages = job.work / "packages"
    apt.download(apt.closure(part["package"]), packages, 0)
    owners: dict[str, Path] = {}
    for package in packages.glob("*.deb"):
        listing = job.run(["dpkg-deb", "-c", str(package)], what="dpkg-deb failed", hint="")
        for line in listing.splitlines():
            owners[Path(line.split()[5]).name] = package
        job.run(["dpkg-deb", "-x", str(package), str(job.tree)], what="dpkg-deb failed", hint="")
    needed = {owners[name] for name in _libraries(part["program"], job)}
    locked = []
    for package in needed | {owners[Path(part["program"]).name]}:
        name, version = debian.identity(package, job)
        locked.append(_locked(name, version, package))
    return DebianArtifact(
        version=next(file.version for file in locked if file.name == part["package"]),
        suite=part["suite"],
        package=part["package"],
        program=part["program"],
        version_option=part.get("version_option", VERSION_OPTION),
        files=tuple(sorted(locked, key=lambda file: file.name)),
    )


def _libraries(program: str, job: Job) -> set[str]:
    """Return the file names of the libraries that the loader would load for `program`."""
    loader, *options, path = debian.command(job.tree, program)
    output = job.run([loader, *options, "--list", path], what="the loader failed", hint="")
    paths = re.findall(r"=> (\S+)", output)
    return {Path(path).name for path in paths} | {Path(loader).name}


def _lock_go(part: Part, job: Job) -> GoArtifact:
    go = system.find_go(part["go"])
    if go is None:
        raise LabError("there is no Go on the PATH", exit_code=ExitCode.ENVIRONMENT)
    output = job.run(
        [
            str(go.path),
            "mod",
            "download",
            "-modcacherw",
            "-json",
            f"{part['module']}@{part['version']}",
        ],
        what="go could not download the module",
        hint="",
        env={"GOMODCACHE": str(job.work / "modules")},
    )
    described = json.loads(output)
    return GoArtifact(
        version=part["version"],
        module=part["module"],
        h1=described["Sum"],
        size=Path(described["Zip"]).stat().st_size,
        check=part["check"],
        go=part["go"],
        toolchain=_lock_pypi(part["toolchain"], job),
    )


def _locked(name: str, version: str, path: Path) -> LockedFile:
    return LockedFile(name=name, version=version, sha256=sha256_of(path), size=path.stat().st_size)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Makes lock.json from parts.toml.")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--folder", type=Path, default=Path(str(files("labctl.artifacts"))))
    given = parser.parse_args()
    try:
        main(given.names, given.folder)
    except LabError as error:
        sys.exit("\n".join((str(error), *error.details)))
