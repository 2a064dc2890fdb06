"""Whoever enters a source's database is its owner; the administrator stays beside the sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import pytest

from labctl import sources
from labctl.config.endpoints import Database, Endpoints
from labctl.config.lab_config import LabConfig
from labctl.engines.mysql import mysql_service as mysql
from labctl.engines.postgres import postgres_service as postgres
from labctl.errors import LabError
from labctl.services.local_endpoints import loopback_endpoints
from labctl.sources import ENGINES, connect, connect_server, ensure_database
from labctl.sources.refusals import NOT_ALLOWED_HINT, not_reached, statement_failed
from tests.unit.service_context import PORTS, PROJECT, SECRET

OWNERS = {"postgres": postgres.OWNER, "mysql": mysql.OWNER, "sqlserver": "sa"}
LOGINS = {
    postgres.OWNER: "secret-of-postgres-owner",
    mysql.OWNER: "secret-of-mysql",
    "sa": "secret-of-sqlserver",
}


@pytest.fixture(scope="module")
def endpoints() -> Endpoints:
    return loopback_endpoints(LabConfig.load(PROJECT / "lab.toml"), PORTS, SECRET)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[Database]]:
    """What clients were opened for, and databases made with."""
    seen: list[Database] = []
    recording = {
        name: replace(
            engine,
            client=cast(Any, seen.append),
            ensure_database=lambda server, database, owner: seen.append(
                server.model_copy(update={"database": f"{database} of {owner}"})
            ),
        )
        for name, engine in ENGINES.items()
    }
    monkeypatch.setattr(sources, "ENGINES", recording)
    return lambda: seen


def test_sources_are_entered_as_their_owner(
    endpoints: Endpoints, opened: Callable[[], list[Database]]
) -> None:
    for name in endpoints.sources:
        connect(endpoints, name)
    assert {one.engine for one in endpoints.sources.values()} == set(ENGINES)
    for source, login in zip(endpoints.sources.values(), opened(), strict=True):
        assert (login.user, login.database) == (OWNERS[source.engine], source.database)
        assert login.password.get_secret_value() == LOGINS[login.user]


def test_the_administrator_enters_no_sources_database(
    endpoints: Endpoints, opened: Callable[[], list[Database]]
) -> None:
    for name in ("postgres", "mysql", "sqlserver"):
        connect_server(endpoints, name)
    assert [(login.user, login.database) for login in opened()] == [
        (postgres.ADMIN, "postgres"),
        (mysql.ADMIN, ""),
        # It has one login, without rights to anything else.
        ("sa", endpoints.sources["sqlserver"].database),
    ]


def test_a_database_is_made_by_the_administrator_and_is_the_owners(
    endpoints: Endpoints, opened: Callable[[], list[Database]]
) -> None:
    for name in ("postgres", "mysql"):
        ensure_database(endpoints, name)
    made = {(login.user, login.database) for login in opened()}
    assert made == {
        (postgres.ADMIN, f"{endpoints.sources['postgres'].database} of {postgres.OWNER}"),
        *((mysql.ADMIN, f"{s} of {mysql.OWNER}") for s in endpoints.sources["mysql"].schemas),
    }


def test_a_promoted_lab_has_one_login_of_each_server(
    endpoints: Endpoints, opened: Callable[[], list[Database]]
) -> None:
    connect_server(endpoints.model_copy(update={"servers": {}}), "postgres")
    ((login),) = opened()
    assert (login.user, login.database) == (postgres.OWNER, "postgres")


@pytest.mark.parametrize(
    "reason",
    [
        "permission denied to COPY to or from an external program",
        "must be owner of table t",
        'must be able to SET ROLE "postgres"',
        "Access denied; you need (at least one of) the SUPER privilege(s) for this operation",
        "CREATE command denied to user 'labctl'@'%' for table 't'",
    ],
)
def test_a_right_that_is_missing_has_a_next_step(reason: str) -> None:
    assert statement_failed("X", "SELECT 1", reason).hint == NOT_ALLOWED_HINT
    assert statement_failed("X", "SELECT 1", "no such table").hint is None


def test_a_login_that_is_missing_has_a_next_step() -> None:
    assert "labctl up" in not_reached('password authentication failed for user "labctl_owner"')
    assert "labctl up" in not_reached("Access denied for user 'labctl_admin'@'127.0.0.1'")
    assert not_reached("Connection refused") == "see `labctl status`"


def test_a_source_that_no_lab_has_is_named(endpoints: Endpoints) -> None:
    with pytest.raises(LabError, match="no source 'x'"):
        connect_server(endpoints, "x")
