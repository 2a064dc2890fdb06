"""A release's packages are looked up among known vulnerabilities, and silence is no answer.

OSV is played by a server on this machine, whose answers have the shape that OSV's API documents.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest
from packageurl import PackageURL

from release.audit import FOUND, NOT_AUDITED, Accepted, audit, load_accepted, main, packed_in
from release.osv import Osv, OsvError

JACKSON = "pkg:maven/com.fasterxml.jackson.core/jackson-databind@2.9.0"
JINJA = "pkg:pypi/jinja2@2.4.1"
KNOWN = {
    "GHSA-jackson": {
        "id": "GHSA-jackson",
        "aliases": ["CVE-2020-0001"],
        "summary": "Deserialization of untrusted data",
        "modified": "2024-01-01T00:00:00Z",
        "database_specific": {"severity": "HIGH", "cwe_ids": ["CWE-502"]},
        "affected": [
            {
                "package": {
                    "name": "com.fasterxml.jackson.core:jackson-databind",
                    "ecosystem": "Maven",
                },
                "ranges": [
                    {"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.9.10"}]}
                ],
            }
        ],
    },
    "PYSEC-jinja": {"id": "PYSEC-jinja", "details": "Sandbox escape.\nMore of it."},
    "PYSEC-withdrawn": {"id": "PYSEC-withdrawn", "withdrawn": "2023-01-01T00:00:00Z"},
}


class FakeOsv:
    """OSV's API on a port of this machine."""

    def __init__(self) -> None:
        self.pages: dict[str, list[list[str]]] = {
            JACKSON: [["GHSA-jackson"]],
            JINJA: [["PYSEC-withdrawn"], ["PYSEC-jinja"]],
        }
        self.batches: list[list[dict[str, Any]]] = []
        self.failures = 0
        """How many requests are still answered with 503."""
        self.answer: Callable[[dict[str, Any]], dict[str, Any]] = lambda answer: answer
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self._send(fake.batch(json.loads(body)["queries"]))

            def do_GET(self) -> None:
                self._send(KNOWN[self.path.rpartition("/")[2]])

            def _send(self, value: Any) -> None:
                fake.failures -= 1
                content = json.dumps(value).encode()
                self.send_response(503 if fake.failures >= 0 else 200)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:
                """Nothing is to be read."""

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def batch(self, queries: list[dict[str, Any]]) -> dict[str, Any]:
        self.batches.append(queries)
        return self.answer({"results": [self.result(query) for query in queries]})

    def result(self, query: dict[str, Any]) -> dict[str, Any]:
        pages = self.pages.get(query["package"]["purl"])
        if pages is None:
            return {}
        page = int(query.get("page_token", "0"))
        ids = [{"id": id_, "modified": "2024-01-01T00:00:00Z"} for id_ in pages[page]]
        more = {"next_page_token": str(page + 1)} if page + 1 < len(pages) else {}
        return {"vulns": ids, **more}


@pytest.fixture
def osv() -> Iterator[FakeOsv]:
    fake = FakeOsv()
    thread = threading.Thread(target=fake.server.serve_forever)
    thread.start()
    yield fake
    fake.server.shutdown()
    thread.join()
    fake.server.server_close()


@pytest.fixture
def dist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bill of materials, on a machine that has fetched no part."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "dist"
    folder.mkdir()
    bom = {
        "components": [
            {
                "name": "kafka",
                "components": [{"purl": f"{JACKSON}?type=jar"}, {"purl": "pkg:deb/debian/x@1"}],
            },
            {"name": "jinja2", "purl": JINJA},
        ]
    }
    (folder / "labctl-1.cdx.json").write_text(json.dumps(bom))
    return folder


@pytest.fixture
def accept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`accept(id, package)`: the record of accepted vulnerabilities has these alone."""

    def accept(*pairs: tuple[str, str]) -> None:
        entries = (
            f'[[accepted]]\nid = "{id_}"\npackage = "{package}"\nwhy = "a test"\n'
            for id_, package in pairs
        )
        path = tmp_path / "vulnerabilities.toml"
        path.write_text("".join(entries))
        monkeypatch.setattr("release.audit.load_accepted", lambda: load_accepted(path))

    accept()
    return accept


def purls(*texts: str) -> list[PackageURL]:
    return [PackageURL.from_string(text) for text in texts]


def test_what_is_known_is_found_over_batches_and_pages(osv: FakeOsv) -> None:
    others = [f"pkg:pypi/package{number}@1" for number in range(3)]
    asked = purls(JACKSON, JINJA, *others, "pkg:deb/debian/libc6@2.43", JINJA)
    jackson, jinja = audit(Osv(osv.url, most_queries=2), asked)
    assert str(jackson) == (
        f"{JACKSON}: GHSA-jackson (CVE-2020-0001)\n"
        "  high: Deserialization of untrusted data\n"
        "  fixed in 2.9.10"
    )
    assert str(jinja) == (
        f"{JINJA}: PYSEC-jinja\n  severity not said: Sandbox escape.\n  no fixed version is known"
    )
    assert all(len(batch) <= 2 for batch in osv.batches)
    first_pages = [query for batch in osv.batches for query in batch if "page_token" not in query]
    assert [query["package"]["purl"] for query in first_pages] == sorted([JACKSON, JINJA, *others])


def test_a_busy_service_is_asked_again(osv: FakeOsv) -> None:
    osv.failures = 1
    assert len(audit(Osv(osv.url), purls(JACKSON))) == 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        ({"results": []}, "answered 0 of 1 queries"),
        ({}, "answered what OSV's API does not"),
        ({"results": [{"vulns": [{"name": "x"}]}]}, "answered what OSV's API does not"),
    ],
)
def test_another_answer_is_not_taken_for_none(
    osv: FakeOsv, answer: dict[str, Any], says: str
) -> None:
    osv.answer = lambda _answer: answer
    with pytest.raises(OsvError, match=says):
        audit(Osv(osv.url), purls(JACKSON))


@pytest.mark.usefixtures("accept")
def test_a_release_with_something_known_fails(
    osv: FakeOsv, dist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(dist), "--service", osv.url]) == FOUND
    said = capsys.readouterr().out
    assert f"{JACKSON}: GHSA-jackson" in said
    assert "2 vulnerabilities, 0 accepted" in said
    assert "not asked about: 1 Debian packages" in said
    assert "not looked into, because not fetched: kafka, " in said
    asked = {query["package"]["purl"] for batch in osv.batches for query in batch}
    assert [purl for purl in asked if purl.startswith("pkg:pypi/pytest@")], "the build's own, too"


def test_what_is_accepted_passes_until_nothing_has_it(
    osv: FakeOsv, dist: Path, accept: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    package = "pkg:maven/com.fasterxml.jackson.core/jackson-databind"
    accept(("CVE-2020-0001", package), ("PYSEC-jinja", "pkg:pypi/jinja2"))
    assert main([str(dist), "--service", osv.url]) == 0
    assert "0 vulnerabilities, 2 accepted" in capsys.readouterr().out
    osv.pages.pop(JACKSON)
    assert main([str(dist), "--service", osv.url]) == FOUND
    assert f"{package} no longer has CVE-2020-0001: remove it" in capsys.readouterr().out


def test_nothing_is_accepted_for_another_package(
    osv: FakeOsv, dist: Path, accept: Callable[..., None]
) -> None:
    accept(("GHSA-jackson", "pkg:pypi/jinja2"), ("PYSEC-jinja", "pkg:pypi/jinja2"))
    assert main([str(dist), "--service", osv.url]) == FOUND


@pytest.mark.usefixtures("accept")
def test_without_an_answer_the_release_is_not_audited_and_fails(
    osv: FakeOsv, dist: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    osv.failures = 1000
    assert main([str(dist), "--service", osv.url]) == NOT_AUDITED
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"NOT AUDITED: {osv.url}/v1/querybatch could not be asked")
    assert "make dist AUDIT=skip" in said.err


def test_leaving_it_out_is_said(dist: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(dist), "--skip"]) == 0
    assert capsys.readouterr().err.startswith("NOT AUDITED")


def test_what_is_packed_into_a_jar_is_found(tmp_path: Path) -> None:
    jar = tmp_path / "bundle.jar"
    with ZipFile(jar, "w") as archive:
        for group, name, version in (
            ("org.example", "bundle", "1.0"),
            ("com.google.guava", "guava", "16.0"),
            ("org.example", "unresolved", "${project.version}"),
        ):
            archive.writestr(
                f"META-INF/maven/{group}/{name}/pom.properties",
                f"#made\r\ngroupId={group}\r\nartifactId={name}\r\nversion={version}\r\n",
            )
        archive.writestr("META-INF/maven/org.example/bundle/pom.xml", "<project/>")
    assert {str(purl) for purl in packed_in([jar])} == {
        "pkg:maven/org.example/bundle@1.0",
        "pkg:maven/com.google.guava/guava@16.0",
    }


def test_the_record_gives_a_reason_for_each_entry() -> None:
    assert all(isinstance(one, Accepted) and one.why for one in load_accepted())
