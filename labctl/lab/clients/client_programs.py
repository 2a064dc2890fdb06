"""The engines' own client programs, each with the lab's address and login.

A password is never in an argument: it stays in a file that only this user can read, or, for the one
program that reads none (`sqlcmd`), in its environment.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from labctl.artifacts import Progress
from labctl.config.endpoints import Database
from labctl.engine_names import EngineName
from labctl.engines.mysql.mysql_client_files import MYSQL_OPTIONS, write_mysql_options
from labctl.engines.postgres.postgres_client_files import postgres_variables
from labctl.errors import ExitCode, LabError
from labctl.lab.clients.client_environment import (
    client_environment,
    clients_folder,
)
from labctl.lab.lab import Lab
from labctl.sources import ENGINES, endpoint_of
from labctl.state.sockets import LOOPBACK

__all__ = ["Program", "aws", "begin_in", "mysql", "psql", "sqlcmd"]

# Variables of the user's shell for another server, which would override ours.
_POSTGRES_OTHERS = ("PGHOSTADDR", "PGPASSWORD", "PGREQUIRESSL", "PGSERVICE", "PGSSLMODE")
_AWS_OTHERS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_DEFAULT_PROFILE",
    "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS",
    "AWS_PROFILE",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
)


@dataclass(frozen=True)
class Program:
    """A program to execute: the beginning of its command line, and its environment."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """Variables added to this process's own. They may hold a password."""
    without: Iterable[str] = ()
    """Variables that the program must not inherit."""

    def environment(self, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
        """Return the program's whole environment."""
        without = set(self.without)
        kept = {name: value for name, value in inherited.items() if name not in without}
        return {**kept, **self.env}


def psql(
    lab: Lab, progress: Progress, source: str | None = None, *, admin: bool = False
) -> Program:
    """Return `psql` of the lab's own PostgreSQL, so that it is never too old for the server."""
    database = begin_in(lab, "postgres", source)
    lab.artifacts.fetch(["postgres"], progress=progress)
    program = lab.artifacts.postgres_bin() / "psql"
    env = client_environment(lab) | {"PGDATABASE": database.database}
    if admin:
        login = _as_administrator(lab, database, "postgres")
        env |= postgres_variables(login, clients_folder(lab) / "pgpass-admin")
    return Program([str(program)], env, _POSTGRES_OTHERS)


def mysql(
    lab: Lab, progress: Progress, source: str | None = None, *, admin: bool = False
) -> Program:
    """Return the machine's client if it is MySQL's own, else one that labctl fetches."""
    database = begin_in(lab, "mysql", source)
    lab.artifacts.fetch(["mysql-client"], progress=progress)
    env = client_environment(lab)
    options = clients_folder(lab) / MYSQL_OPTIONS
    if admin:
        options = options.with_name("my-admin.cnf")
        write_mysql_options(_as_administrator(lab, database, "mysql"), options)
    # The user's own option files are for other servers, and would be read after ours.
    argv = [*lab.artifacts.mysql_command(), f"--defaults-file={options}"]
    if source is not None:
        # A database given without the option overrides this one.
        argv.append(f"--database={database.database}")
    return Program(argv, env | {"MYSQL_TEST_LOGIN_FILE": f"{env['MYSQL_HOME']}/no-login-path"})


def _as_administrator(lab: Lab, database: Database, engine: EngineName) -> Database:
    """Return `database` with the login of its server's administrator instead of its owner."""
    server = lab.endpoints.servers.get(engine, database)
    return server.model_copy(update={"database": database.database})


def sqlcmd(lab: Lab, source: str | None = None) -> Program | None:
    """Return the machine's `sqlcmd`; None if there is none."""
    database = begin_in(lab, "sqlserver", source)
    path = shutil.which("sqlcmd")
    if path is None:
        return None
    # A lab's certificate is self-signed.
    trusting = ["-C"] if database.host == LOOPBACK else []
    own = {
        "SQLCMDDBNAME": database.database,
        "SQLCMDPASSWORD": database.password.get_secret_value(),
    }
    return Program([path, *trusting], client_environment(lab) | own)


def aws(lab: Lab) -> Program:
    """Return the machine's AWS CLI. For a lab on this machine, none of its commands reach AWS."""
    path = shutil.which("aws")
    if path is None:
        raise LabError(
            "There is no `aws` on the PATH",
            hint="install the AWS CLI: `pipx install awscli`, or AWS's own installer",
            exit_code=ExitCode.ENVIRONMENT,
        )
    env = client_environment(lab)
    if url := lab.endpoints.objectstore.endpoint_url:
        # For AWS services that have no address of their own here: the lab's keys must go nowhere
        # else.
        env["AWS_ENDPOINT_URL"] = url
    mine = "AWS_SHARED_CREDENTIALS_FILE" in env
    return Program([path], env, _AWS_OTHERS if mine else ())


def begin_in(lab: Lab, engine: EngineName, source: str | None) -> Database:
    """Return the database of `source`, or the server's default, that of its first source.

    Raises LabError (USAGE) if the lab has no such server or source, or if the source has another
    engine.
    """
    title = ENGINES[engine].title
    if source is None:
        if (client := lab.endpoints.client_of(engine)) is None:
            raise LabError(f"This profile has no {title}", exit_code=ExitCode.USAGE)
        return client
    found = endpoint_of(lab.endpoints, source)
    if found.engine != engine:
        raise LabError(
            f"The source {source!r} is no {title}: its engine is {found.engine}",
            exit_code=ExitCode.USAGE,
        )
    return found
