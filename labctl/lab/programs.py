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
from labctl.errors import ExitCode, LabError
from labctl.lab.clients import client_environment
from labctl.lab.lab import Lab
from labctl.lab.ports import LOOPBACK

__all__ = ["Program", "aws", "mysql", "psql", "required", "sqlcmd"]

# What is set in the user's own shell for another server, and would win over what we set.
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
    """A program to become: the beginning of its command line, and what its environment has."""

    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    """Added to this process's own. May hold a password."""
    without: Iterable[str] = ()
    """Variables that it must not inherit."""

    def environment(self, inherited: Mapping[str, str] = os.environ) -> dict[str, str]:
        """All of its environment."""
        without = set(self.without)
        kept = {name: value for name, value in inherited.items() if name not in without}
        return {**kept, **self.env}


def psql(lab: Lab, progress: Progress) -> Program:
    """Of the lab's own PostgreSQL, so that it is never too old for it."""
    required(lab.endpoints.postgres, "PostgreSQL")
    lab.artifacts.fetch(["postgres"], progress=progress)
    program = lab.artifacts.postgres_bin() / "psql"
    return Program([str(program)], client_environment(lab), _POSTGRES_OTHERS)


def mysql(lab: Lab, progress: Progress) -> Program:
    """The machine's, where that is MySQL's own; else it is fetched."""
    required(lab.endpoints.mysql, "MySQL")
    lab.artifacts.fetch(["mysql-client"], progress=progress)
    env = client_environment(lab)
    # The files of the user's own are for other servers, and would be read after ours.
    argv = [*lab.artifacts.mysql_command(), f"--defaults-file={env['MYSQL_HOME']}/my.cnf"]
    return Program(argv, env | {"MYSQL_TEST_LOGIN_FILE": f"{env['MYSQL_HOME']}/no-login-path"})


def sqlcmd(lab: Lab) -> Program | None:
    """The machine's; None where it has none."""
    database = required(lab.endpoints.sqlserver, "SQL Server")
    path = shutil.which("sqlcmd")
    if path is None:
        return None
    # A lab's certificate is its own: nobody vouches for it.
    trusting = ["-C"] if database.host == LOOPBACK else []
    password = {"SQLCMDPASSWORD": database.password.get_secret_value()}
    return Program([path, *trusting], client_environment(lab) | password)


def aws(lab: Lab) -> Program:
    """The machine's AWS CLI. Of a lab on this machine, nothing that it does reaches AWS."""
    path = shutil.which("aws")
    if path is None:
        raise LabError(
            "There is no `aws` on the PATH",
            hint="install the AWS CLI: `pipx install awscli`, or AWS's own installer",
            exit_code=ExitCode.ENVIRONMENT,
        )
    env = client_environment(lab)
    env["AWS_DEFAULT_REGION"] = env["AWS_REGION"]
    if url := lab.endpoints.objectstore.endpoint_url:
        # For every service, not for S3 alone: the lab's keys are to go nowhere else.
        env["AWS_ENDPOINT_URL"] = url
    mine = "AWS_SHARED_CREDENTIALS_FILE" in env
    return Program([path], env, _AWS_OTHERS if mine else ())


def required(database: Database | None, title: str) -> Database:
    """`database`, which a promoted lab need not have. Raises LabError (USAGE)."""
    if database is None:
        raise LabError(f"This profile has no {title}", exit_code=ExitCode.USAGE)
    return database
