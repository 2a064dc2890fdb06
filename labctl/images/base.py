"""The base of all images: Debian, made with debootstrap from this machine's own archive."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

from labctl.artifacts import Progress
from labctl.artifacts.apt import INDEX_TARGETS, KEYRING, archive_address
from labctl.errors import ExitCode, LabError
from labctl.images.docker_commands import run

__all__ = ["SUITE", "inputs", "make"]

SUITE = "bookworm"
PACKAGES = ("ca-certificates", "python3", "python3-venv", "tzdata")
"""Packages of the base image. Python is for the Spark application's image; all share the layer."""
CERTIFICATES = Path("/usr/local/share/ca-certificates")
"""Folder in which Debian keeps the CA certificates that an administrator added."""
LEFTOVERS = ("var/cache/apt/archives", "var/lib/apt/lists", "var/log", "usr/share/doc")
HINT = "see what debootstrap says above; it needs root, the network and Debian's archive"


def inputs() -> list[bytes]:
    """Return the image's inputs, which tell whether it must be rebuilt."""
    certificates = sorted(CERTIFICATES.glob("*.crt"))
    return [
        SUITE.encode(),
        *(p.encode() for p in PACKAGES),
        *(c.read_bytes() for c in certificates),
    ]


def make(reference: str, label: str, work: Path, progress: Progress) -> None:
    """Make the image as `reference`, with `label`. Raises LabError."""
    archive = _archive()
    with TemporaryDirectory(dir=work, prefix="base-") as folder:
        root = Path(folder) / "root"
        progress.begin("base", "debootstrap", None, "packages")
        _bootstrap(root, archive, progress)
        progress.begin("base", "packing", None, "bytes")
        _trust(root)
        for name in LEFTOVERS:
            _empty(root / name)
        _import(root, reference, label)
    progress.finish("base")


def _archive() -> str:
    """Return the Debian archive from which this machine gets its packages."""
    if shutil.which("debootstrap") is None:
        _refuse("there is no debootstrap", "install it: apt-get install debootstrap")
    if os.geteuid() != 0:
        _refuse("debootstrap needs root", "run `labctl tools images build` as root")
    if shutil.which("apt-get") is None:
        _refuse("this machine has no apt", "build the images on Debian")
    done = subprocess.run(INDEX_TARGETS, capture_output=True, text=True, check=False)
    archive = archive_address(done.stdout) if done.returncode == 0 else None
    if archive is None:
        _refuse("apt's sources on this machine name no Debian archive", "build them on Debian")
    return archive


def _refuse(why: str, hint: str) -> NoReturn:
    raise LabError(
        f"The base image cannot be made: {why}", hint=hint, exit_code=ExitCode.ENVIRONMENT
    )


def _bootstrap(root: Path, archive: str, progress: Progress) -> None:
    keyring = [f"--keyring={KEYRING}"] if KEYRING.exists() else []

    def line(text: str) -> None:
        if text.startswith(("I: Unpacking", "I: Configuring")):
            progress.advance("base", 1)

    run(
        [
            *("debootstrap", "--variant=minbase", f"--include={','.join(PACKAGES)}", *keyring),
            *(SUITE, str(root), archive),
        ],
        what="debootstrap failed",
        hint=HINT,
        line=line,
    )


def _trust(root: Path) -> None:
    """Trust this machine's own CAs besides Debian's, for builds that fetch over TLS."""
    target = root / CERTIFICATES.relative_to("/")
    target.mkdir(parents=True, exist_ok=True)
    for certificate in CERTIFICATES.glob("*.crt"):
        shutil.copy(certificate, target)
    run(
        ["chroot", str(root), "update-ca-certificates"],
        what="the base image's CA certificates could not be made",
        hint=HINT,
    )


def _empty(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def _import(root: Path, reference: str, label: str) -> None:
    with subprocess.Popen(
        ["tar", "-C", str(root), "--numeric-owner", "-c", "."], stdout=subprocess.PIPE
    ) as packing:
        done = subprocess.run(
            [
                *("docker", "import", "--change", f"LABEL {label}"),
                *(
                    "--change",
                    "ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                ),
                *("--change", "ENV LANG=C.UTF-8", "--change", 'CMD ["bash"]', "-", reference),
            ],
            stdin=packing.stdout,
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0 or packing.returncode != 0:
        raise LabError(
            "Docker could not import the base image", details=tuple(done.stderr.splitlines()[-3:])
        )
