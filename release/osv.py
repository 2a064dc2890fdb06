"""A client of OSV, the database of known vulnerabilities (https://google.github.io/osv.dev/api)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import requests
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

__all__ = ["SERVICE", "Osv", "OsvError", "Vulnerability"]

SERVICE = "https://api.osv.dev"
MOST_QUERIES = 1000
"""Number of packages that OSV takes in one request."""
_TIMEOUT = (10, 60)
"""Seconds to connect, and between two reads."""


class OsvError(Exception):
    """OSV could not be reached, or answered something else than its API says."""


class _Answer(BaseModel):
    """A part of an answer; members that nobody here needs are let through."""

    model_config = ConfigDict(frozen=True)


class _Range(_Answer):
    events: tuple[dict[str, str], ...] = ()


class _Package(_Answer):
    name: str = ""


class _Affected(_Answer):
    package: _Package = _Package()
    ranges: tuple[_Range, ...] = ()


Shape = TypeVar("Shape", bound=_Answer)


class Vulnerability(_Answer):
    """A known vulnerability."""

    id: str
    aliases: tuple[str, ...] = ()
    summary: str = ""
    details: str = ""
    withdrawn: str | None = None
    affected: tuple[_Affected, ...] = ()
    database_specific: dict[str, Any] = Field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """Its identifiers in all databases, such as GHSA's and CVE's."""
        return frozenset((self.id, *self.aliases))

    @property
    def title(self) -> str:
        """A line that says what it is."""
        text = self.summary or self.details
        return text.strip().partition("\n")[0] or "(no summary)"

    @property
    def severity(self) -> str:
        """The database's own word; "" if it has none."""
        return str(self.database_specific.get("severity", "")).lower()

    def fixed_in(self, package: str) -> tuple[str, ...]:
        """Return the versions of `package`, by OSV's name for it, that have no such fault."""
        found = [
            event["fixed"]
            for one in self.affected
            if one.package.name.lower() == package.lower()
            for range_ in one.ranges
            for event in range_.events
            if "fixed" in event
        ]
        return tuple(dict.fromkeys(found))


class _Id(_Answer):
    id: str


class _Result(_Answer):
    vulns: tuple[_Id, ...] = ()
    next_page_token: str = ""


class _Batch(_Answer):
    results: tuple[_Result, ...]


class Osv:
    """OSV at one address. Every method raises OsvError if the service does not answer."""

    def __init__(self, service: str = SERVICE, *, most_queries: int = MOST_QUERIES) -> None:
        self._service = service.rstrip("/")
        self._most = most_queries
        self._session = requests.Session()
        again = Retry(
            total=2,
            backoff_factor=0.5,
            status_forcelist=(429, 500, 502, 503, 504),
            allowed_methods=None,
        )
        for scheme in ("https://", "http://"):
            self._session.mount(scheme, HTTPAdapter(max_retries=again))

    def ids(self, purls: Sequence[str]) -> dict[str, list[str]]:
        """Return the vulnerabilities' ids for each package URL that has any."""
        found: dict[str, list[str]] = {}
        waiting = [{"package": {"purl": purl}} for purl in purls]
        while waiting:
            batch, waiting = waiting[: self._most], waiting[self._most :]
            results = self._batch(batch)
            for query, result in zip(batch, results, strict=True):
                purl = query["package"]["purl"]
                if result.vulns:
                    found.setdefault(purl, []).extend(one.id for one in result.vulns)
                if result.next_page_token:
                    more: dict[str, Any] = query | {"page_token": result.next_page_token}
                    waiting.append(more)
        return found

    def _batch(self, queries: list[dict[str, Any]]) -> tuple[_Result, ...]:
        answer = self._ask("POST", "/v1/querybatch", _Batch, json={"queries": queries})
        if len(answer.results) != len(queries):
            raise OsvError(
                f"{self._service} answered {len(answer.results)} of {len(queries)} queries"
            )
        return answer.results

    def vulnerability(self, id_: str) -> Vulnerability:
        """Return all that OSV knows about a vulnerability."""
        return self._ask("GET", f"/v1/vulns/{id_}", Vulnerability)

    def _ask(self, method: str, path: str, shape: type[Shape], **more: Any) -> Shape:
        url = f"{self._service}{path}"
        try:
            answer = self._session.request(method, url, timeout=_TIMEOUT, **more)
            answer.raise_for_status()
            return shape.model_validate_json(answer.content)
        except requests.RequestException as error:
            raise OsvError(f"{url} could not be asked: {error}") from None
        except ValidationError as error:
            raise OsvError(f"{url} answered what OSV's API does not: {error.errors()[0]}") from None
