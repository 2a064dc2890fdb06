"""Addresses of a promoted lab: written by `labctl promote apply`, overridden in `lab.toml`.

It holds addresses and the names of secrets, never a secret.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from labctl.config.section import Section
from labctl.engine_names import EngineName
from labctl.errors import ExitCode, LabError

__all__ = [
    "PromotedDatabase",
    "PromotedEndpoints",
    "PromotedKafka",
    "PromotedStore",
    "load_promoted",
    "outputs_path",
]

Port = Annotated[int, Field(ge=1, le=65535)]


class PromotedDatabase(Section):
    """The address of a source."""

    host: str
    """Its address."""
    port: Port
    """Its port."""
    database: str
    """The database that is captured."""
    secret: str
    """Name or ARN in Secrets Manager; its JSON has `username` and `password`."""


class PromotedKafka(Section):
    """The addresses of the brokers."""

    bootstrap_servers: str
    """Their addresses."""
    authentication: Literal["none", "tls", "scram", "iam", "plain"] = "none"
    """Kind of login of clients. `plain` is for a lab on this machine."""
    secret: str | None = None
    """SCRAM and `plain` only: its JSON has `username` and `password`."""


class PromotedStore(Section):
    """The address of the object store."""

    bucket: str
    """The bucket of bronze and silver."""
    region: str
    """The bucket's region."""
    endpoint_url: str | None = None
    """Its address. Without it: Amazon S3 itself."""
    secret: str | None = None
    """Its JSON has `access.key` and `secret.key`. Without it: boto3's usual credentials."""


class PromotedEndpoints(Section):
    """Other addresses than those that `promote apply` wrote down, each of them optional: for a
    tunnel, or a lab on this machine."""

    servers: dict[EngineName, PromotedDatabase] = Field(default_factory=dict)
    """Addresses of the database servers, by engine."""
    kafka: PromotedKafka | None = None
    connect_url: str | None = None
    """Address of Kafka Connect's REST interface. Without it: MSK Connect, through AWS's API."""
    connect_secret: str | None = None
    """Its login, if it asks for one: JSON with `username` and `password`."""
    registry_url: str | None = None
    """Address of the registry."""
    objectstore: PromotedStore | None = None
    silver_status_url: str | None = None
    """Address of the Spark application's status."""

    def over(self, below: PromotedEndpoints) -> PromotedEndpoints:
        """Return these endpoints, with those of `below` where none is set here."""
        own = {name: getattr(self, name) for name in type(self).model_fields}
        set_here = {name: value for name, value in own.items() if value is not None}
        return below.model_copy(update={**set_here, "servers": {**below.servers, **self.servers}})

    def save(self, project: Path, profile: str) -> Path:
        """Write them down for `profile`, replacing what was there; the file."""
        path = outputs_path(project, profile)
        path.parent.mkdir(parents=True, exist_ok=True)
        staged = path.with_name(f".{path.name}")
        staged.unlink(missing_ok=True)
        with staged.open("x", encoding="utf-8") as file:  # nobody's link is followed
            file.write(self.model_dump_json(indent=2, exclude_none=True) + "\n")
        staged.replace(path)
        return path


def outputs_path(project: Path, profile: str) -> Path:
    """Return the file in which apply keeps the addresses of the lab of `profile`."""
    return project / "promoted" / profile / "outputs.json"


def load_promoted(path: Path) -> PromotedEndpoints:
    """Read `path`; empty when there is no such file. Raise LabError when it is damaged."""
    try:
        return PromotedEndpoints.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return PromotedEndpoints()
    except ValidationError as error:
        issue = error.errors()[0]
        key = ".".join(map(str, issue["loc"]))
        raise LabError(
            f"{path} is not usable: {key}: {issue['msg']}",
            hint="`labctl promote apply` writes it again",
            exit_code=ExitCode.USAGE,
        ) from None
