"""The machine's apt tools with a private state folder, reading another suite."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable
from pathlib import Path

from labctl.artifacts.job import Job, folder_size
from labctl.errors import ExitCode, LabError

__all__ = ["INDEX_TARGETS", "KEYRING", "Apt", "archive_address"]

MYSQL_HINT = "install MySQL 8 or newer so that `mysqld` is on the PATH"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
SUITES = ("oldstable", "stable", "testing", "unstable", "sid")
NETWORK_HINT = "check the network and apt's settings, then run the command again"

INDEX_TARGETS = (
    "apt-get",
    "indextargets",
    "--format",
    "$(RELEASE)|$(COMPONENT)|$(REPO_URI)",
    "Created-By: Packages",
)
"""Command that lists the machine's apt sources; `archive_address` parses its output."""

# This apt must ignore the system's lists, installed packages, preferences and hooks. The archive's
# signature must cover every package.
CONFIGURATION = """\
Dir::State "{root}/state";
Dir::State::status "{root}/status";
Dir::Cache "{root}/cache";
Dir::Etc::sourcelist "{root}/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Architecture "amd64";
APT::Architectures {{ "amd64"; }};
APT::Sandbox::User "";
APT::Install-Recommends "false";
APT::Get::AllowUnauthenticated "false";
Acquire::AllowInsecureRepositories "false";
Acquire::Check-Valid-Until "true";
Acquire::Languages "none";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
"""


class Apt:
    """apt-get and apt-cache for one suite of the Debian archive this machine is configured for."""

    def __init__(self, job: Job, suite: str) -> None:
        """Set up the private state without network access. Raises LabError (ENVIRONMENT)."""
        self._job = job
        _require_debian()
        self._root = job.work / "apt"
        for folder in ("state/lists/partial", "cache/archives/partial"):
            (self._root / folder).mkdir(parents=True, exist_ok=True)
        (self._root / "status").touch()
        (self._root / "sources.list").write_text(f"{self._source(suite)}\n")
        (self._root / "apt.conf").write_text(CONFIGURATION.format(root=self._root))

    def update(self) -> None:
        """Fetch the suite's signed package index."""
        self._job.begin("reading the package index", None)
        self._run("apt-get", "update", what="apt-get could not read Debian's package index")

    def versions(self, packages: list[str]) -> dict[str, set[str]]:
        """Return the archive's versions of each of `packages`; omit packages that it lacks."""
        found: dict[str, set[str]] = {}
        output = self._run(
            "apt-cache", "madison", *packages, what="apt-cache cannot read its index"
        )
        for line in output.splitlines():
            name, version, _source = (part.strip() for part in line.split("|"))
            found.setdefault(name, set()).add(version)
        return found

    def closure(self, package: str) -> list[str]:
        """Return `package` and all its dependencies as `name=version`."""
        output = self._run(
            "apt-get",
            "install",
            "--simulate",
            "--assume-yes",
            package,
            what=f"apt cannot resolve {package}",
        )
        # Lines such as: Inst libc6 (2.41-1 Debian:unstable [amd64])
        lines = [line.split() for line in output.splitlines() if line.startswith("Inst ")]
        return [f"{words[1]}={words[2].removeprefix('(')}" for words in lines]

    def download(self, packages: list[str], into: Path, size: int) -> None:
        """Download `packages` (`name` or `name=version`); apt checks each against the index.

        `size` caps the reported progress.
        """
        into.mkdir(exist_ok=True)
        self._job.begin("downloading", size)
        self._run(
            "apt-get",
            "download",
            *packages,
            what="apt-get could not download the packages",
            cwd=into,
            measure=lambda _log: min(folder_size(into), size),
        )

    def _run(
        self,
        program: str,
        *arguments: str,
        what: str,
        cwd: Path | None = None,
        measure: Callable[[Path], int] = lambda _log: 0,
    ) -> str:
        return self._job.run(
            [program, "-c", str(self._root / "apt.conf"), "-q", *arguments],
            what=what,
            hint=NETWORK_HINT,
            cwd=cwd,
            env={"LC_ALL": "C.UTF-8"},
            measure=measure,
        )

    def _source(self, suite: str) -> str:
        """Return a sources line for `suite` of the Debian archive that this machine uses."""
        output = self._job.run(
            list(INDEX_TARGETS), what="apt-get cannot tell its sources", hint=MYSQL_HINT
        )
        archive = archive_address(output)
        if archive is None:
            raise LabError(
                "apt's sources on this machine name no Debian archive",
                hint=MYSQL_HINT,
                exit_code=ExitCode.ENVIRONMENT,
            )
        signed = f"[signed-by={KEYRING}] " if KEYRING.exists() else ""
        return f"deb {signed}{archive} {suite} main"


def archive_address(index_targets: str) -> str | None:
    """Return the Debian archive's URI from the output of `INDEX_TARGETS`; None if there is none."""
    codename = platform.freedesktop_os_release().get("VERSION_CODENAME", "")
    for line in index_targets.splitlines():
        release, component, archive = line.split("|")
        if release in {codename, *SUITES} and component == "main":
            return archive
    return None


def _require_debian() -> None:
    missing = [name for name in ("apt-get", "apt-cache", "dpkg-deb") if not shutil.which(name)]
    if missing:
        why = f"this machine has no {', '.join(missing)}"
    elif platform.freedesktop_os_release().get("ID") != "debian":
        why = "this machine's packages do not come from Debian"
    else:
        return
    raise LabError(
        f"MySQL cannot be fetched: {why}", hint=MYSQL_HINT, exit_code=ExitCode.ENVIRONMENT
    )
