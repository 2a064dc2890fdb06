"""Fetching real parts from the real registries into an empty cache."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tenacity import Retrying, retry_if_result, stop_after_delay, wait_fixed

from labctl.artifacts import ArtifactStore
from labctl.artifacts.lock import (
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

pytestmark = pytest.mark.long

SLF4J = MavenFile(
    name="org.slf4j:slf4j-api",
    version="1.7.36",
    sha256="d3ef575e3e4979678dc01bf1dcce51021493b4d11fb7f1be8ad982877c16a1c0",
    size=41125,
)
LZ4 = MavenFile(
    name="org.lz4:lz4-java",
    version="1.8.0",
    sha256="d74a3334fb35195009b338a951f918203d6bbca3d1d359033dc33edd1cadc9ef",
    size=682804,
)
JARS = MavenArtifact(version="1", files=(SLF4J, LZ4))
WHEEL = PypiArtifact(
    version="2.0.0",
    folder="iniconfig",
    file=LockedFile(
        name="iniconfig",
        version="2.0.0",
        sha256="b6a85871a79d2e3b22d2d1b94ac2824226a63c6b741c88f7ae975f18b6778374",
        size=5892,
    ),
)
ABSENT = "0" * 64

FETCH = """\
import sys
from pathlib import Path
from labctl.artifacts import ArtifactStore
from labctl.artifacts.lock import load_lock
from labctl.errors import LabError
try:
    for status in ArtifactStore(Path(sys.argv[1]), load_lock(Path(sys.argv[2]))).fetch():
        print(status.state)
except LabError as error:
    sys.exit(f"LabError: {error}")
"""
NOWHERE = "http://127.0.0.1:9"
NO_NETWORK = {
    "http_proxy": NOWHERE,
    "https_proxy": NOWHERE,
    "HTTP_PROXY": NOWHERE,
    "HTTPS_PROXY": NOWHERE,
    "NO_PROXY": "",
    "no_proxy": "",
}

Start = Callable[..., "subprocess.Popen[str]"]


def store(cache: Path, **artifacts: Artifact) -> ArtifactStore:
    return ArtifactStore(cache, Lock(artifacts=artifacts))


@pytest.fixture
def start(tmp_path: Path) -> Start:
    """Starts a process that fetches `artifacts` into the test's cache."""

    def run(env: dict[str, str] | None = None, **artifacts: Artifact) -> subprocess.Popen[str]:
        lock = tmp_path / "lock.json"
        lock.write_text(Lock(artifacts=artifacts).model_dump_json())
        return subprocess.Popen(
            [sys.executable, "-c", FETCH, str(tmp_path / "cache"), str(lock)],
            env={**os.environ, **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    return run


def outcome(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and all output."""
    stdout, stderr = process.communicate(timeout=600)
    return process.returncode, stdout + stderr


def test_jars_arrive_as_locked(tmp_path: Path) -> None:
    parts = store(tmp_path, jars=JARS)
    assert parts.status("jars").state == "missing"
    (status,) = parts.fetch()
    assert (status.state, status.verified_by) == ("ready", "lock")
    jars = {path.name: path.stat().st_size for path in parts.path("jars").iterdir()}
    assert jars == {"slf4j-api-1.7.36.jar": SLF4J.size, "lz4-java-1.8.0.jar": LZ4.size}
    assert not list((tmp_path / "work").rglob("*.jar"))


def test_a_second_run_needs_no_network(start: Start) -> None:
    parts = {"jars": JARS, "wheel": WHEEL}
    code, output = outcome(start(NO_NETWORK, **parts))
    assert code == 1
    assert "LabError" in output, "the network is there after all"
    assert outcome(start(**parts)) == (0, "ready\nready\n")
    assert outcome(start(NO_NETWORK, **parts)) == (0, "ready\nready\n")


def test_another_checksum_is_refused(tmp_path: Path) -> None:
    wrong = SLF4J.model_copy(update={"sha256": ABSENT})
    parts = store(tmp_path, jars=MavenArtifact(version="1", files=(LZ4, wrong)))
    with pytest.raises(LabError, match=r"org\.slf4j:slf4j-api 1\.7\.36 is not the file") as caught:
        parts.fetch()
    assert any(ABSENT in detail for detail in caught.value.details)
    assert any(SLF4J.sha256 in detail for detail in caught.value.details)
    assert parts.status("jars").state == "missing"
    assert not list(tmp_path.rglob("slf4j*"))


def test_a_damaged_jar_is_found_refused_and_repaired(tmp_path: Path) -> None:
    parts = store(tmp_path, jars=JARS)
    parts.fetch()
    jar = parts.path("jars") / "lz4-java-1.8.0.jar"
    before = jar.stat()
    with jar.open("r+b") as file:
        file.seek(1000)
        file.write(b"\0\1\2\3")
    os.utime(jar, ns=(before.st_atime_ns, before.st_mtime_ns))
    (status,) = parts.verify()
    assert (status.state, status.damaged) == ("damaged", ("lz4-java-1.8.0.jar",))
    with pytest.raises(LabError, match="damaged") as caught:
        parts.path("jars")
    assert caught.value.exit_code == ExitCode.ENVIRONMENT
    (status,) = parts.fetch()
    assert status.state == "ready"
    assert parts.verify()[0].state == "ready"


def test_a_repair_takes_good_jars_from_the_damaged_folder(tmp_path: Path, start: Start) -> None:
    parts = store(tmp_path / "cache", jars=JARS)
    parts.fetch()
    # A lock that asks for less: all of it is in the older folder.
    less = MavenArtifact(version="2", files=(LZ4,))
    assert outcome(start(NO_NETWORK, jars=less)) == (0, "ready\n")


def test_a_truncated_file_is_noticed_and_repaired_by_fetch(tmp_path: Path) -> None:
    parts = store(tmp_path, jars=JARS)
    parts.fetch()
    os.truncate(parts.path("jars") / "slf4j-api-1.7.36.jar", 100)
    assert parts.status("jars").damaged == ("slf4j-api-1.7.36.jar",)
    assert parts.fetch()[0].state == "ready"
    assert parts.verify()[0].state == "ready"


def test_a_killed_fetch_leaves_nothing_half_done_and_is_continued(
    tmp_path: Path, start: Start
) -> None:
    kafka = load_lock().artifacts["kafka"]
    assert isinstance(kafka, MavenArtifact)
    process = start(kafka=kafka)
    cache = tmp_path / "cache"
    wait = Retrying(wait=wait_fixed(0.005), stop=stop_after_delay(240), retry=retry_if_result(bool))
    wait(lambda: process.poll() is None and len(list(cache.glob("work/*/*/*.jar"))) < 3)
    process.send_signal(signal.SIGKILL)
    outcome(process)
    parts = store(cache, kafka=kafka)
    assert parts.status("kafka").state == "missing"
    kept = {path.name: path.stat().st_ino for path in cache.glob("work/*/*/*.jar")}
    assert kept
    parts.fetch()
    assert parts.verify()[0].state == "ready"
    installed = {path.name: path.stat().st_ino for path in parts.path("kafka").iterdir()}
    assert kept.items() <= installed.items(), "a file that was there was downloaded again"


def test_ctrl_c_ends_a_fetch_at_once(tmp_path: Path, start: Start) -> None:
    process = start(mysql=load_lock().artifacts["mysql"], jars=JARS)
    wait = Retrying(wait=wait_fixed(0.005), stop=stop_after_delay(240), retry=retry_if_result(bool))
    wait(lambda: not (tmp_path / "cache" / "work").exists())
    process.send_signal(signal.SIGINT)
    code, output = outcome(process)
    assert code != 0
    assert "KeyboardInterrupt" in output
    assert "LabError" not in output


def test_two_processes_share_one_fetch(tmp_path: Path, start: Start) -> None:
    both = [start(jars=JARS, wheel=WHEEL) for _ in range(2)]
    assert [outcome(process) for process in both] == [(0, "ready\nready\n")] * 2
    assert {path.name for path in (tmp_path / "cache" / "artifacts").iterdir()} == {"jars", "wheel"}


def test_a_wheel_gives_its_folder(tmp_path: Path) -> None:
    parts = store(tmp_path, wheel=WHEEL)
    parts.fetch()
    assert (parts.path("wheel") / "__init__.py").is_file()
    assert not list(parts.path("wheel").rglob("*.dist-info"))


def test_a_wheel_of_another_checksum_is_refused(tmp_path: Path) -> None:
    wrong = WHEEL.file.model_copy(update={"sha256": ABSENT})
    parts = store(tmp_path, wheel=WHEEL.model_copy(update={"file": wrong}))
    with pytest.raises(LabError, match="iniconfig") as caught:
        parts.fetch()
    assert any(WHEEL.file.sha256 in detail for detail in caught.value.details)
    assert parts.status("wheel").state == "missing"


needs_debian = pytest.mark.skipif(shutil.which("apt-get") is None, reason="needs a Debian machine")


def hello(*names: str) -> DebianArtifact:
    """GNU hello from the moving suite, locked to versions that are not there any more."""
    files = tuple(
        LockedFile(name=name, version="0.0-1", sha256=ABSENT, size=100_000) for name in names
    )
    return DebianArtifact(
        version="0.0-1", suite="unstable", package="hello", program="usr/bin/hello", files=files
    )


@needs_debian
@pytest.mark.parametrize(
    "artifact", [hello("hello", "libc6"), hello("hello", "libc5")], ids=["moved", "renamed"]
)
def test_packages_that_left_the_archive_are_replaced_and_it_is_said(
    tmp_path: Path, artifact: DebianArtifact
) -> None:
    parts = store(tmp_path, hello=artifact)
    (status,) = parts.fetch()
    assert (status.state, status.verified_by) == ("ready", "archive")
    assert status.version != "0.0-1"
    assert status.note is not None
    assert "not by the lock" in status.note
    assert f"hello {status.version}" in status.note
    assert parts.verify()[0].state == "ready"


@needs_debian
def test_a_package_of_the_locked_version_must_have_the_locked_checksum(tmp_path: Path) -> None:
    (today,) = store(tmp_path, hello=hello("hello", "libc6")).fetch()
    current = LockedFile(name="hello", version=today.version, sha256=ABSENT, size=100_000)
    wrong = hello("hello", "libc6").model_copy(update={"files": (current,)})
    parts = store(tmp_path, hello=wrong)
    with pytest.raises(LabError, match=r"hello .* is not the file that the lock asks for"):
        parts.fetch()
    assert parts.status("hello").state == "missing"


@pytest.fixture
def program() -> GoArtifact:
    """A small Go program, built with the toolchain that the lock has for MinIO."""
    minio = load_lock().artifacts["minio"]
    assert isinstance(minio, GoArtifact)
    return GoArtifact(
        version="v0.0.0-20250915201037-7f05d217867b",
        module="golang.org/x/example/hello",
        h1="h1:+gZE2jOdiscYByu0606Uw8Ldir2Cecd39Vq/3IEasRA=",
        size=3943,
        go=minio.go,
        toolchain=minio.toolchain,
    )


def test_a_go_program_is_built(tmp_path: Path, program: GoArtifact) -> None:
    parts = store(tmp_path, program=program)
    parts.fetch()
    hello = str(parts.path("program") / "bin" / "hello")
    greeting = subprocess.run([hello, "lab"], capture_output=True, text=True, check=True).stdout
    assert greeting == "Hello, lab!\n"
    assert not list((tmp_path / "work").rglob("*")), "source and compiler output are removed"


def test_a_go_module_of_another_checksum_is_refused(tmp_path: Path, program: GoArtifact) -> None:
    wrong = f"h1:{'A' * 43}="
    parts = store(tmp_path, program=program.model_copy(update={"h1": wrong}))
    with pytest.raises(LabError, match=r"x/example/hello .* is not the module") as caught:
        parts.fetch()
    assert any(wrong in detail for detail in caught.value.details)
    assert parts.status("program").state == "missing"
