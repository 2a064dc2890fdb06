"""An archive's members become files of this user below one folder, or nothing is unpacked."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from labctl.artifacts.job import Provenance
from labctl.artifacts.owners import own_tree
from labctl.artifacts.tree import publish
from labctl.artifacts.unpacking import unpack
from labctl.errors import LabError
from tests.unit.artifacts_support import make_job

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
OTHER = 1000


def tar(folder: Path, **spoilt: object) -> Path:
    path = folder / "part.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, mode in (("lib/one.jar", 0o666), ("bin/run", 0o4777)):
            info = tarfile.TarInfo(name)
            info.size, info.mode, info.uid, info.gid = 3, mode, OTHER, OTHER
            if name == "bin/run":
                for attribute, value in spoilt.items():
                    setattr(info, attribute, value)
            archive.addfile(info, io.BytesIO(b"abc"))
    return path


def wheel(folder: Path, name: str = "lib/one", mode: int = stat.S_IFREG | 0o755) -> Path:
    path = folder / "part.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for member in (name, "beside/two"):
            info = zipfile.ZipInfo(member)
            info.external_attr = mode << 16
            archive.writestr(info, b"abc")
    return path


def none() -> None: ...


def test_files_belong_to_this_user_and_have_plain_modes(tmp_path: Path) -> None:
    target = tmp_path / "tree"
    target.mkdir()
    unpack(tar(tmp_path), target, check=none)
    unpack(wheel(tmp_path), target / "wheel", folder="lib", check=none)
    found = {
        str(path.relative_to(target)): stat.S_IMODE(path.stat().st_mode)
        for path in target.rglob("*")
        if path.is_file()
    }
    assert found == {"lib/one.jar": 0o644, "bin/run": 0o755, "wheel/one": 0o755}
    assert {path.stat().st_uid for path in target.rglob("*")} == {os.geteuid()}


def test_a_hard_link_is_a_second_name_of_a_file(tmp_path: Path) -> None:
    """Trino's archive has each jar that several plugins share once, and links to it."""
    target = tmp_path / "tree"
    unpack(tar(tmp_path, type=tarfile.LNKTYPE, linkname="lib/one.jar"), target, check=none)
    assert (target / "bin" / "run").samefile(target / "lib" / "one.jar")
    assert (target / "bin" / "run").read_bytes() == b"abc"


@pytest.mark.parametrize(
    "spoilt",
    [
        {"name": "../outside"},
        {"name": "/tmp/outside"},  # noqa: S108
        {"type": tarfile.SYMTYPE, "linkname": "/etc"},
        {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"},
        {"type": tarfile.LNKTYPE, "linkname": "../outside"},
        {"type": tarfile.LNKTYPE, "linkname": "lib/two.jar"},
        {"type": tarfile.LNKTYPE, "linkname": "lib/one.jar", "name": "../outside"},
        {"type": tarfile.FIFOTYPE},
        {"type": tarfile.CHRTYPE},
    ],
)
def test_what_leads_outside_is_refused(tmp_path: Path, spoilt: dict[str, object]) -> None:
    target = tmp_path / "in" / "tree"
    with pytest.raises(LabError, match=r"part\.tar\.gz was not unpacked"):
        unpack(tar(tmp_path, **spoilt), target, check=none)
    assert not (tmp_path / "in" / "outside").exists()


@pytest.mark.parametrize(
    ("name", "mode"),
    [("../outside", 0o644), ("a\\..\\b", 0o644), ("lib/link", stat.S_IFLNK | 0o777)],
)
def test_the_same_of_wheels(tmp_path: Path, name: str, mode: int) -> None:
    with pytest.raises(LabError, match=r"part\.whl was not unpacked"):
        unpack(wheel(tmp_path, name, mode), tmp_path / "in", check=none)
    assert not (tmp_path / "outside").exists()


def test_half_an_archive_is_one_error(tmp_path: Path) -> None:
    path = tar(tmp_path)
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(LabError, match="is damaged"):
        unpack(path, tmp_path / "in", check=none)


@AS_ROOT
def test_a_tree_of_any_tool_belongs_to_who_fetched_it(tmp_path: Path) -> None:
    """`dpkg-deb -x`, as root, gives files to the owner that the package names."""
    job = make_job(tmp_path / "work")
    (job.tree / "bin").mkdir()
    (job.tree / "bin" / "run").write_bytes(b"abc")
    (job.tree / "bin" / "link").symlink_to("run")
    for name in ("bin", "bin/run", "bin/link"):
        os.chown(job.tree / name, OTHER, OTHER, follow_symlinks=False)
    (job.tree / "bin" / "run").chmod(0o6777)
    target = tmp_path / "artifacts" / "part" / "1"
    publish(job, Provenance("1.0"), target)
    assert {path.lstat().st_uid for path in target.rglob("*")} == {0}
    assert stat.S_IMODE((target / "bin" / "run").stat().st_mode) == 0o775


def test_a_device_is_no_part_of_a_tree(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="neither a file nor a folder"):
        own_tree(tmp_path)
