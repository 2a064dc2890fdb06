"""A fetch that is killed at any of its writes is completed by the next one."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import tarfile
from collections.abc import Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from labctl.artifacts import ArtifactStore, maven
from labctl.artifacts.lock import Lock, MavenArtifact, MavenFile
from tests.unit.killing import kill_at_every_change

PART = "part"
OTHER = 1000
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")


def archive() -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as opened:
        for name in ("lib/one.jar", "lib/two.jar"):
            info = tarfile.TarInfo(name)
            info.size, info.uid = 3, OTHER
            opened.addfile(info, io.BytesIO(b"abc"))
    return buffer.getvalue()


CONTENTS = {"one": b"jar", "more": archive()}
"""By name of a component: what its only file has."""


class Registry(BaseHTTPRequestHandler):
    """Has each component, whatever its version."""

    def do_GET(self) -> None:
        content = CONTENTS[self.path.split("/")[-3]]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of a cache, and a registry to fill it from."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        real = maven.context(tmp_path / "maven")
        real.remote_repos = {"here": f"http://127.0.0.1:{server.server_port}"}
        monkeypatch.setattr(maven, "context", lambda: real)
        yield tmp_path / "cache"
        server.shutdown()
        thread.join()


def store(cache: Path) -> ArtifactStore:
    files = tuple(
        MavenFile(
            name=f"org.example:{name}",
            version="1.0",
            packaging="jar" if name == "one" else "tar.gz",
            sha256=hashlib.sha256(content).hexdigest(),
            size=len(content),
        )
        for name, content in CONTENTS.items()
    )
    return ArtifactStore(cache, Lock(artifacts={PART: MavenArtifact(version="1.0", files=files)}))


def test_it_is_completed_by_the_next(cache: Path) -> None:
    def prepare() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        cache.mkdir()

    states = set()
    for _ in kill_at_every_change(cache, prepare, lambda _: store(cache).fetch()):
        states.add(store(cache).status(PART).state)
        store(cache).fetch()
        (status,) = store(cache).verify()
        assert status.state == "ready"
        assert status.path is not None
        found = [str(path.relative_to(status.path)) for path in status.path.rglob("*.jar")]
        assert sorted(found) == ["lib/one.jar", "lib/two.jar", "one-1.0.jar"]
        assert list((cache / "work").iterdir()) == []
    assert states == {"missing", "ready"}


def test_a_repair_may_be_killed_as_well(cache: Path) -> None:
    def prepare() -> None:
        shutil.rmtree(cache, ignore_errors=True)
        store(cache).fetch()
        (store(cache).path(PART) / "lib" / "one.jar").write_bytes(b"other")

    for _ in kill_at_every_change(cache, prepare, lambda _: store(cache).fetch()):
        store(cache).fetch()
        (status,) = store(cache).verify()
        assert status.state == "ready"


@AS_ROOT
@pytest.mark.parametrize("is_changed", [False, True])
def test_a_cache_of_an_earlier_labctl_is_taken_from_others(cache: Path, is_changed: bool) -> None:
    """And read: until then the other user could change a file without a trace."""
    store(cache).fetch()
    tree = store(cache).path(PART)
    jar = tree / "lib" / "one.jar"
    before = jar.stat()
    if is_changed:
        jar.write_bytes(b"xyz")
        os.utime(jar, ns=(before.st_atime_ns, before.st_mtime_ns))
    give = partial(os.chown, uid=OTHER, gid=OTHER)
    for path in (tree / "lib", jar):
        give(path)
    status = store(cache).status(PART)
    assert status.damaged == (("lib/one.jar",) if is_changed else ())
    assert {path.stat().st_uid for path in tree.rglob("*")} == {0}
