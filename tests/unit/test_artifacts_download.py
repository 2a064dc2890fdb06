"""Downloads over HTTP: verified, retried, continued."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from labctl.artifacts.download import CHUNK, download
from labctl.errors import ExitCode, LabError
from tests.unit.artifacts_support import Tally, locked, make_job

CONTENT = random.Random(7).randbytes(400_000)  # noqa: S311
FILE = locked("group:name", CONTENT)


class Registry(ThreadingHTTPServer):
    """Serves CONTENT at /file; `faults` are used up by one request each."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.faults: list[Callable[[Handler], None]] = []
        self.ranges: list[str | None] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/file"


class Handler(BaseHTTPRequestHandler):
    server: Registry

    def do_GET(self) -> None:
        self.server.ranges.append(self.headers["Range"])
        if self.server.faults:
            self.server.faults.pop(0)(self)
        elif self.path != "/file":
            self.answer(404, b"")
        else:
            self.serve()

    def serve(self, *, until: int = len(CONTENT), ranges: bool = True) -> None:
        """Send the rest of the content that is asked for, but break off at `until`."""
        asked = self.headers["Range"]
        start = int(asked.removeprefix("bytes=").rstrip("-")) if asked and ranges else 0
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(CONTENT) - start))
        self.end_headers()
        self.wfile.write(CONTENT[start:until])

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None: ...


@pytest.fixture
def registry() -> Iterator[Registry]:
    with Registry() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_receives_a_file(registry: Registry, tmp_path: Path) -> None:
    tally = Tally()
    download([registry.url], tmp_path / "file", FILE, make_job(tmp_path / "work", tally))
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert not (tmp_path / "file.part").exists()
    assert tally.amounts["part"] == len(CONTENT)


def test_continues_when_the_connection_breaks(registry: Registry, tmp_path: Path) -> None:
    registry.faults = [lambda request: request.serve(until=CHUNK)]
    tally = Tally()
    download([registry.url], tmp_path / "file", FILE, make_job(tmp_path / "work", tally))
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert registry.ranges == [None, f"bytes={CHUNK}-"]
    assert tally.amounts["part"] == len(CONTENT), "every byte counted once"


def test_continues_what_an_earlier_run_left(registry: Registry, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT[:100_000])
    download([registry.url], tmp_path / "file", FILE, make_job(tmp_path / "work"))
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert registry.ranges == ["bytes=100000-"]


def test_starts_again_where_the_registry_cannot_continue(
    registry: Registry, tmp_path: Path
) -> None:
    (tmp_path / "file.part").write_bytes(CONTENT[:100_000])
    registry.faults = [lambda request: request.serve(ranges=False)]
    tally = Tally()
    download([registry.url], tmp_path / "file", FILE, make_job(tmp_path / "work", tally))
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert tally.amounts["part"] == len(CONTENT)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_tries_again_after_a_transient_error(
    registry: Registry, tmp_path: Path, status: int
) -> None:
    registry.faults = [lambda request: request.answer(status, b"later")]
    download([registry.url], tmp_path / "file", FILE, make_job(tmp_path / "work"))
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_asks_the_next_registry(registry: Registry, tmp_path: Path) -> None:
    urls = [registry.url.replace("/file", "/elsewhere"), registry.url]
    download(urls, tmp_path / "file", FILE, make_job(tmp_path / "work"))
    assert (tmp_path / "file").read_bytes() == CONTENT


def test_says_that_no_registry_has_it(registry: Registry, tmp_path: Path) -> None:
    url = registry.url.replace("/file", "/elsewhere")
    with pytest.raises(LabError, match=r"group:name 1\.0 .* not in the registry") as caught:
        download([url], tmp_path / "file", FILE, make_job(tmp_path / "work"))
    assert caught.value.exit_code == ExitCode.ENVIRONMENT


def test_does_not_insist_when_refused(registry: Registry, tmp_path: Path) -> None:
    registry.faults = [lambda request: request.answer(403, b"no")]
    with pytest.raises(LabError, match="refused"):
        download([registry.url], tmp_path / "file", FILE, make_job(tmp_path / "work"))
    assert len(registry.ranges) == 1


def test_refuses_and_removes_another_content(registry: Registry, tmp_path: Path) -> None:
    other = locked("group:name", CONTENT[::-1])
    with pytest.raises(LabError, match="not the file that the lock asks for") as caught:
        download([registry.url], tmp_path / "file", other, make_job(tmp_path / "work"))
    details = "\n".join(caught.value.details)
    assert other.sha256 in details
    assert FILE.sha256 in details
    assert sorted(path.name for path in tmp_path.iterdir()) == ["work"]


def test_refuses_more_than_the_lock_says(registry: Registry, tmp_path: Path) -> None:
    shorter = locked("group:name", CONTENT[:-1])
    with pytest.raises(LabError, match="not the file"):
        download([registry.url], tmp_path / "file", shorter, make_job(tmp_path / "work"))
